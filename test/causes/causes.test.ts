/**
 * Each cause of the closed list ends a real process: through a whole runner, with the real holder, and where a CLI is meant
 * with the real Claude Code, Codex and Gemini CLI against scripted providers. What cannot be made here is listed with the reason,
 * and nothing is missing from both lists.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { causeNames } from '../../src/contract/causes.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { startGoogleApi } from '../model-api/google.ts';
import { startOpenAiApi } from '../model-api/openai.ts';
import { startModelApi } from '../model-api/server.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';
import { claudeEndings } from './claude.ts';
import { codexEndings } from './codex.ts';
import { geminiEndings } from './gemini.ts';
import type { Ending, Ground } from './ground.ts';
import { notMade } from './not-made.ts';
import { programs } from './programs.ts';

const clis = [...claudeEndings, ...codexEndings, ...geminiEndings];
const endings = [...programs, ...clis];

let ground: Ground;
let bare: RunnerBench;
const ends: (() => Promise<unknown>)[] = [];

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));

const selfSigned = async (dir: string): Promise<string | null> => {
  const [keyFile, certFile] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const ask = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  try {
    execFileSync('openssl', [...ask, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (_, res) => res.end('{}'));
  const port = await listen(server);
  ends.push(() => new Promise((r) => server.close(r)));
  return `https://127.0.0.1:${port}`;
};

beforeAll(async () => {
  const [provider, openAi, google] = await Promise.all([startModelApi(), startOpenAiApi(), startGoogleApi()]);
  ends.push(...[provider, openAi, google].map((api) => () => api.close()));
  const bench = await runnerBench({ logBytes: 2_000_000 });
  ends.push(() => bench.end());
  bare = await runnerBench({ cgroup: null });
  ends.push(() => bare.end());
  const gone = createPlain();
  const port = await listen(gone);
  await new Promise((r) => gone.close(r));
  ground = {
    bench,
    provider,
    openAi,
    google,
    deadUrl: `http://127.0.0.1:${port}`,
    selfSignedUrl: await selfSigned(bench.home),
  };
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const made = async (ending: Ending) => {
  const on = ending.bare ? { ...ground, bench: bare } : ground;
  const claim = on.bench.claim(ending.ask(on));
  on.bench.server.give(claim);
  await ending.meanwhile?.(on, claim);
  return on.bench.facts(claim);
};

const endsAs = async (_cause: string, _how: string, ending: Ending): Promise<void> => {
  const missing = ending.missing?.(ground) ?? null;
  if (missing !== null) return void console.log(`not made: ${ending.cause}, ${ending.how}: ${missing}`);
  const facts = await made(ending);
  const verdict = diagnose(facts);
  // The evidence stands beside, so that a failure shows what decided.
  expect({ cause: verdict.cause, evidence: verdict.evidence }).toEqual({
    cause: ending.cause,
    evidence: verdict.evidence,
  });
  expect(verdict).toMatchObject({ switch_credential: false, ...ending.verdict });
  expect(verdict.message === '').toBe(ending.cause === 'success');
  // The same facts give the same verdict at any later time (R5).
  expect(diagnose(JSON.parse(JSON.stringify(facts)))).toEqual(verdict);
};
const rowsOf = (rows: Ending[]) => rows.map((e) => [e.cause, e.how, e] as const);

describe('a real process ends as', () => {
  it.each(rowsOf(programs))(verifies('R35', 'R36')('%s: %s'), endsAs);
});

// Each waits for its provider more than it computes.
describe.concurrent('a real CLI ends as', () => {
  it.each(rowsOf(clis))(verifies('R35', 'R36')('%s: %s'), endsAs);
});

describe('the causes', () => {
  it(verifies('R35')('are each made by a real process, or listed with the reason why not'), () => {
    const known = new Set([...endings.map((e) => e.cause), ...Object.keys(notMade)]);
    expect(causeNames.filter((c) => !known.has(c))).toEqual([]);
    expect(endings.map((e) => e.cause).filter((c) => c in notMade)).toEqual([]);
  });

  it('that are not made are shown in a test that names them', () => {
    for (const [cause, { shown }] of Object.entries(notMade))
      expect({ cause, shown: readFileSync(shown, 'utf8').includes(cause) }).toEqual({ cause, shown: true });
  });
});
