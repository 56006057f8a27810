/**
 * Programs that are no CLI of ours, under the name of one, through a whole runner: whatever they print, the transcript arrives to its
 * end, the facts are such as the server takes, and there is a verdict.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Facts } from '../../src/contract/facts.ts';
import { LogEntry } from '../../src/contract/runner-protocol.ts';
import { Verdict } from '../../src/contract/verdict.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { fixture } from '../support/held.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
beforeAll(async () => {
  bench = await runnerBench();
});
afterAll(() => bench.end());

const clis = ['claude', 'codex', 'gemini'] as const;
const run = async (adapter: (typeof clis)[number], what: string, ending: string) => {
  const agent = { adapter, executable: fixture('hostile.mjs'), env: { HOSTILE: what, ENDING: ending, CLI: adapter } };
  const { claim, facts } = await bench.run({ agent });
  // As it went over the wire.
  expect(Facts.safeParse(facts).error).toBeUndefined();
  const verdict = diagnose(facts);
  expect(Verdict.safeParse(verdict).error).toBeUndefined();
  for (const entry of bench.server.log(claim.attempt)) expect(LogEntry.safeParse(entry).error).toBeUndefined();
  const last = bench.server.log(claim.attempt).findLast((entry) => entry.stream === 'stdout');
  return { facts, verdict, last };
};

const streams = [
  'binary',
  'nested',
  'one line that never ends',
  'two writers in one line',
  'numbers that nobody can count',
  'UTF16',
];
describe.each(clis)('%s is a program that prints', (cli) => {
  it.each(streams)(
    verifies('D37', 'R35', 'R36')('%s: its end is read, and no login is blamed without one'),
    async (what) => {
      const { facts, verdict, last } = await run(cli, what, 'result');
      expect(verdict).toMatchObject({ cause: 'success', switch_credential: false });
      expect(last?.event?.type).toBe(facts.stream.result?.type);
      expect(JSON.stringify(facts).length).toBeLessThan(1_000_000);
      const other = await run(cli, what, 'killed');
      expect(other.verdict).toMatchObject({ mechanism: 'SIGKILL' });
      expect(other.verdict.cause === 'killed_unknown' || what === 'numbers that nobody can count').toBe(true);
    },
  );
});

it.each(clis)(verifies('D37', 'R35')('%s: 100 MB are read to their end'), async (cli) => {
  const { facts, verdict, last } = await run(cli, '100 MB', 'result');
  expect(facts.stream.bytes).toBeGreaterThan(100_000_000);
  expect(verdict.cause).toBe('success');
  expect(last?.event?.type).toBe(facts.stream.result?.type);
});

it(
  verifies('R34', 'R35')('facts that a server will not take are told once more, without what the run has said'),
  async () => {
    let refused = 0;
    bench.server.fate = (route) => (route === 'facts' && refused++ === 0 ? '422' : 'passes');
    const { facts, verdict } = await run('claude', 'two writers in one line', 'killed');
    expect(facts).toMatchObject({ signal: 'SIGKILL', stream: { lines: [], signals: [] } });
    expect(facts.stream.bytes).toBeGreaterThan(100_000);
    expect(verdict.cause).toBe('killed_unknown');
  },
);

it(verifies('D37')('a service whose answer has no end is cut off, and that is its ending'), async () => {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  const server: Server = createServer((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { facts } = await bench.run({ agent: { adapter: 'http', base_url } });
  expect(diagnose(facts)).toMatchObject({ cause: 'malformed_response', retryable: false, switch_credential: false });
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});
