import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type StreamFacts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { createReader } from '../evidence/create.ts';
import { diagnose } from '../outcome/diagnose.ts';
import { demoFile, type Scene } from './scenes.ts';

const dirs: string[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

interface Played {
  code: number | null;
  signal: NodeJS.Signals | null;
  facts: StreamFacts;
  verdict: Verdict;
  stderr: string;
  dir: string;
  events: Record<string, unknown>[];
}

/** The shim as the adapter runs it: a real process, its stream read by the real reader. */
const play = async (scene: Scene | 'nonsense', args: string[] = []): Promise<Played> => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-demo-'));
  dirs.push(dir);
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'demo-claude.ts'), '--scene', scene, '-p', ...args],
    {
      cwd: dir,
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  children.push(child);
  child.stdin.end('Play it.');
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (d) => {
    stdout += d;
  });
  child.stderr.on('data', (d) => {
    stderr += d;
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done) =>
    child.on('close', (c, s) => done([c, s])),
  );
  const reader = createReader('claude');
  const lines = stdout.split('\n').filter((l) => l !== '');
  for (const line of lines) reader.line('stdout', line, null);
  return {
    code,
    signal,
    facts: reader.facts(),
    verdict: diagnose({ ...emptyFacts('claude'), exit_code: code, signal, stream: reader.facts() }),
    stderr,
    dir,
    events: lines.map((l) => JSON.parse(l) as Record<string, unknown>),
  };
};

describe('the shim of the demo', () => {
  it('really edits a file, and says so in a stream that reads as a success', async () => {
    const { code, facts, verdict, dir } = await play('success', [
      '--permission-mode',
      'acceptEdits',
      '--verbose',
      '--model',
      'x',
    ]);
    expect(code).toBe(0);
    expect(readFileSync(join(dir, demoFile), 'utf8')).toMatch(/^Drover was here: \d{4}-/);
    expect(facts.result).toMatchObject({ subtype: 'success', is_error: false });
    expect(facts).toMatchObject({ tool_calls: 1, permission_mode: 'acceptEdits', cost_usd: 0, open_tool: null });
    expect(facts.response).toContain(demoFile);
    expect(verdict).toMatchObject({ cause: 'success', attention: [] });
  });

  it('goes on in the session it is given', async () => {
    expect((await play('limit', ['--resume', 'c0ffee'])).facts.session_id).toBe('c0ffee');
  });

  it(
    verifies('D16')('is killed from outside, without a result and without an open tool that could be blamed'),
    async () => {
      const { code, signal, facts, verdict } = await play('killed');
      expect([code, signal]).toEqual([null, 'SIGKILL']);
      expect(facts.result).toBeNull();
      expect(facts.open_tool).toBeNull();
      expect(facts.tool_calls).toBe(1);
      expect(verdict).toMatchObject({ cause: 'killed_unknown', switch_credential: false });
    },
  );

  it('shows a rejected login as structured evidence of the model API', async () => {
    const { code, facts, verdict } = await play('login');
    expect(code).toBe(1);
    expect(facts.result).toMatchObject({
      subtype: 'success',
      is_error: true,
      api_error_status: 401,
      terminal_reason: 'api_error',
    });
    expect(facts.signals.map((s) => s.kind)).toContain('assistant_error');
    expect(facts.model_spoke).toBe(false);
    expect(verdict).toMatchObject({ cause: 'auth_failed', confidence: 'proven' });
  });

  it('shows a used-up plan with a reset between one and two hours ahead', async () => {
    const { code, facts, verdict } = await play('limit');
    expect(code).toBe(1);
    const info = facts.signals.find((s) => s.kind === 'rate_limit_rejected')?.data.rate_limit_info as {
      resetsAt: number;
    };
    expect(info).toMatchObject({ status: 'rejected', rateLimitType: 'five_hour' });
    const hours = info.resetsAt / 3600 - Date.now() / 3_600_000;
    expect(hours).toBeGreaterThan(0.99);
    expect(hours).toBeLessThan(2.01);
    expect(facts.result).toMatchObject({ api_error_status: 429, api_error: 'usage_limit_reached' });
    expect(verdict).toMatchObject({ cause: 'usage_limit', confidence: 'proven', reset_at: info.resetsAt * 1000 });
  });

  it('never passes for Claude Code: every model name and version says what it is', async () => {
    const { events } = await play('success');
    expect(events[0]).toMatchObject({
      model: 'drover-demo-shim',
      claude_code_version: expect.stringContaining('demo'),
    });
    expect(JSON.stringify(events)).toContain('not Claude Code');
  });

  it('refuses a scene that is not there and names those that are', async () => {
    const { code, stderr, events } = await play('nonsense');
    expect(code).toBe(1);
    expect(stderr).toContain('success, oom, killed, login, limit');
    expect(events).toEqual([]);
  });
});
