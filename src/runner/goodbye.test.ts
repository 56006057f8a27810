import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimedWork } from '../../test/support/claimed-work.ts';
import { kernelWith } from '../../test/support/held.ts';
import { type RunnerServer, startRunnerServer } from '../../test/support/runner-server.ts';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts } from '../contract/facts.ts';
import { silentLog } from '../kernel/log.ts';
import { createBallast } from './ballast.ts';
import { sayGoodbye } from './goodbye.ts';
import { connectServer } from './server-client.ts';
import { freshState, openSpool, type Spool } from './spool.ts';

let dir: string;
let wire: RunnerServer;
let spool: Spool;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'runner-goodbye-'));
  wire = await startRunnerServer();
  spool = await openSpool(join(dir, 'attempts'), createBallast(join(dir, 'ballast'), silentLog), silentLog);
});
afterEach(async () => {
  await wire.close();
  rmSync(dir, { recursive: true, force: true });
});

const leave = async () => {
  const server = connectServer(wire.url, () => 'runner-key');
  await sayGoodbye({ spool, server, kernel: kernelWith(), hostName: 'h1' });
  await server.close();
};

it(verifies('R22')('keeps what was begun or has ended, and gives back what was only claimed'), async () => {
  const [claimed, begun, ended] = [claimedWork(), claimedWork(), claimedWork()];
  for (const c of [claimed, begun, ended]) await spool.create(c);
  await spool.writeState(begun.attempt, { ...freshState, phase: 'begun' });
  await spool.writeFacts(ended.attempt, emptyFacts('command'));
  await leave();
  expect(wire.goodbyes).toEqual([{ host: 'h1', holds: [begun.attempt, ended.attempt] }]);
  expect([claimed, begun, ended].map((c) => existsSync(spool.dirOf(c.attempt)))).toEqual([false, true, true]);
});

it('leaves all the same when the server does not answer', async () => {
  wire.fate = () => 'request_lost';
  await spool.create(claimedWork());
  await leave();
  expect(await spool.list()).toEqual([]);
});
