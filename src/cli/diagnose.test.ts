import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../../test/support/cli.ts';
import { scriptedId, scriptedServer } from '../../test/support/scripted-server.ts';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts } from '../contract/facts.ts';

interface Case {
  evidence: Record<string, unknown> & { id: string; cli: string };
  expected: { cause: string; retryable: boolean; switch_credential: boolean | null };
}
interface Told {
  id: string;
  cause: string;
  retryable: boolean;
  switch_credential: boolean | null;
  reset_at: string | null;
  confidence: string;
  mechanism: string | null;
  evidence: string[];
  message: string;
}

const file = join(import.meta.dirname, '../../test/fixtures/cases/failures.jsonl');
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((l) => l !== '')
  .map((l) => JSON.parse(l) as Case);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-diagnose-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const killed = {
  id: 'k',
  cli: 'claude',
  exit_code: null,
  signal: 'SIGKILL',
  stop_reason: null,
  oom_kill_delta: 1,
  stdout_tail: '',
  stderr_tail: '',
  result_event: null,
};

describe('drover diagnose', () => {
  it(
    verifies('R35', 'R36')('tells every observed case of Claude Code as it was, one object per line in order'),
    async () => {
      const claude = cases.filter((c) => c.evidence.cli === 'claude');
      const r = await cli(['diagnose'], { stdin: claude.map((c) => JSON.stringify(c.evidence)).join('\n') });
      expect(r.code).toBe(0);
      const told = r.json() as Told[];
      expect(told.map((t) => t.id)).toEqual(claude.map((c) => c.evidence.id));
      for (const [i, t] of told.entries()) {
        const { expected } = claude[i]!;
        expect([t.id, t.cause]).toEqual([t.id, expected.cause]);
        if (expected.switch_credential !== true) expect([t.id, t.switch_credential]).not.toEqual([t.id, true]);
      }
    },
  );

  it('prints exactly the promised fields', async () => {
    const r = await cli(['diagnose', '-'], { stdin: JSON.stringify(killed) });
    expect(Object.keys(r.json()[0] as Told)).toEqual([
      'id',
      'cause',
      'retryable',
      'switch_credential',
      'reset_at',
      'confidence',
      'tier',
      'mechanism',
      'secondary',
      'evidence',
      'message',
    ]);
    expect(r.json()[0]).toMatchObject({
      id: 'k',
      cause: 'oom_killed',
      confidence: 'proven',
      switch_credential: false,
      reset_at: null,
    });
  });

  it('reads a file, and the collection of cases as it is', async () => {
    const some = cases.slice(0, 5);
    const path = join(dir, 'cases.jsonl');
    writeFileSync(path, `${some.map((c) => JSON.stringify(c)).join('\n')}\n\n`);
    const r = await cli(['diagnose', 'cases.jsonl'], { cwd: dir });
    expect((r.json() as Told[]).map((t) => t.id)).toEqual(some.map((c) => c.evidence.id));
  });

  it('keeps its lines aligned with the input when one is no evidence, names it, and exits 2', async () => {
    const r = await cli(['diagnose'], {
      stdin: [JSON.stringify(killed), '{"id": "x", "cli": "emacs"}', 'nonsense', JSON.stringify(killed)].join('\n'),
    });
    expect(r.code).toBe(2);
    expect(r.json()).toMatchObject([
      { id: 'k' },
      { id: 'x', error: expect.stringContaining('cli') },
      { id: null, error: expect.stringContaining('JSON') },
      { id: 'k' },
    ]);
    expect(r.err).toContain('line 2: ');
    expect(r.err).toContain('line 3: ');
  });

  it('says in words what is wrong with a line, and lets nothing of it reach the terminal', async () => {
    const bad: [string, string | null, string][] = [
      ['[]', null, 'it must be an object, not a list'],
      ['null', null, 'it must be an object, not null'],
      ['{"id":"a"}', 'a', 'cli: is missing'],
      ['{"id":"b","cli":"emacs"}', 'b', 'cli: must be one of claude, codex, gemini, any, command'],
      ['{"id":"c","cli":"claude","exit_code":"1"}', 'c', 'exit_code: must be a number, not a text'],
      ['{"id":"d","cli":"claude","exit_code":1.5}', 'd', 'exit_code: must be a whole number, not 1.5'],
      ['{"id":"e","cli":"claude","oom_kill_delta":-1}', 'e', 'oom_kill_delta: must be at least 0'],
      ['{"evidence":{"id":"f","cli":"claude","signal":9}}', 'f', 'signal: must be a text, not a number'],
      ['\u001b[31m{"id":\u0000', null, 'not JSON'],
    ];
    const r = await cli(['diagnose'], { stdin: bad.map(([line]) => line).join('\n') });
    expect(r.code).toBe(2);
    expect(r.json()).toEqual(
      bad.map(([, id, why], i) => ({ id, error: expect.stringContaining(`line ${i + 1}: ${why}`) })),
    );
    expect(r.err).not.toMatch(/Invalid|expected (object|string|number)|received/);
    expect(r.err).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it(verifies('D37')('bounds a line that never ends, and goes on behind it'), async () => {
    const mb = 'x'.repeat(1024 * 1024);
    const r = await cli(['diagnose'], {
      stdin: (function* () {
        for (let i = 0; i < 130; i++) yield mb;
        yield `\n${JSON.stringify(killed)}\n`;
      })(),
    });
    expect(r.code).toBe(2);
    expect(r.json()).toMatchObject([
      { id: null, error: expect.stringContaining('line 1: longer than 128 MB') },
      { id: 'k', cause: 'oom_killed' },
    ]);
  });

  it('writes sentences for people', async () => {
    const r = await cli(['diagnose', '--human'], { stdin: JSON.stringify(killed) });
    expect(r.out).toContain('oom_killed (proven');
    expect(r.out).toContain('switch the credential: no');
    expect(r.out).toContain('Raise resources.memory');
  });

  it('judges the facts in the spool of an attempt', async () => {
    const spool = join(dir, 'attempt1');
    mkdirSync(spool);
    writeFileSync(join(spool, 'facts.json'), JSON.stringify({ ...emptyFacts('claude'), signal: 'SIGKILL' }));
    const r = await cli(['diagnose', spool, '--json']);
    expect(r.code).toBe(0);
    expect(r.json()).toMatchObject([{ id: 'attempt1', cause: 'killed_unknown', switch_credential: false }]);
  });

  it('says what is missing: no facts yet, no such thing, no input', async () => {
    expect(await cli(['diagnose', dir])).toMatchObject({ code: 9, err: expect.stringContaining('facts.json') });
    expect(await cli(['diagnose', 'nowhere.jsonl'])).toMatchObject({
      code: 9,
      err: expect.stringContaining('nowhere.jsonl'),
    });
    expect(await cli(['diagnose'], { tty: true })).toMatchObject({
      code: 2,
      err: expect.stringContaining('nothing to diagnose'),
    });
    expect(await cli(['diagnose'], { stdin: '' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('no line of evidence'),
    });
  });

  it('shows the stored verdict of an execution', async () => {
    const server = await scriptedServer();
    try {
      const waiting = await cli(['diagnose', scriptedId], { env: server.env });
      expect([waiting.code, waiting.err.includes('queued')]).toEqual([9, true]);
      server.end({
        status: 'failed',
        cause: 'usage_limit',
        verdict: {
          cause: 'usage_limit',
          secondary: [],
          mechanism: null,
          confidence: 'proven',
          tier: 'structured',
          evidence: ['rate_limit_event'],
          retryable: false,
          switch_credential: true,
          reset_at: 1_796_070_472_000,
          message: 'Used up.',
          attention: [],
        },
      });
      const r = await cli(['diagnose', scriptedId, '--json'], { env: server.env });
      expect(r.json()).toMatchObject([
        { id: scriptedId, cause: 'usage_limit', reset_at: '2026-11-30T20:27:52.000Z', switch_credential: true },
      ]);
    } finally {
      await server.close();
    }
  });
});
