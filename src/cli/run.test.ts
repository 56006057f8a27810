import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliOptions, cli } from '../../test/support/cli.ts';
import { type ScriptedServer, scriptedId, scriptedServer } from '../../test/support/scripted-server.ts';
import { verifies } from '../../test/support/verifies.ts';
import { pause } from '../client/pause.ts';

let server: ScriptedServer;
beforeEach(async () => {
  server = await scriptedServer();
});
afterEach(() => server.close());

/** Waits are cut to a few ms: the steps of a test follow on what was written, never on time. */
const quick: CliOptions['pause'] = (ms, signal) => pause(Math.min(ms, 3), signal);

/** Runs a command and takes each step when its words have been written to stderr. */
const stepwise = (argv: string[], steps: [string, (interrupt: () => void) => unknown][], o: CliOptions = {}) => {
  let written = '';
  return cli(argv, {
    env: server.env,
    pause: quick,
    ...o,
    watching: (text, interrupt) => {
      written += text;
      while (steps.length > 0 && written.includes(steps[0]![0])) steps.shift()![1](interrupt);
    },
  });
};

const text = (t: string) => ({ type: 'assistant', message: { content: [{ type: 'text', text: t }] } });
const ended = {
  status: 'success',
  cause: 'success',
  response: 'All done.',
  duration_ms: 1200,
  turns: 2,
  tool_calls: 1,
};

describe('drover run', () => {
  it('follows a run from the queue to its ending: the answer on stdout, all else on stderr', async () => {
    server.row.wait = { reason: 'agent_cap', position: 2, lanes_ahead: 0, since: null, until: null };
    const r = await stepwise(
      ['run', 'writer', 'do', 'it'],
      [
        ['agent_cap, place 2', () => Object.assign(server.row, { status: 'running', wait: null })],
        [
          'running',
          () => {
            server.say(text('I begin.'));
            server.say({
              type: 'assistant',
              message: { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }] },
            });
          },
        ],
        ['> Bash ls', () => server.end(ended)],
      ],
    );
    expect(r.code).toBe(0);
    expect(r.out).toBe('All done.\n');
    expect(r.err).toContain('I begin.');
    expect(r.err).toContain('success · 2 turns · 1 tool call · 1.2 s');
    expect(server.submits).toHaveLength(1);
    expect(server.submits[0]).toMatchObject({ path: '/api/agents/writer/task', body: { message: 'do it' } });
    expect(server.submits[0]!.key).toBeTruthy();
  });

  it.each([
    ['oom_killed', 'failed', 6],
    ['auth_failed', 'failed', 8],
    ['call_budget_exhausted', 'failed', 7],
    ['overloaded', 'failed', 10],
    ['max_turns', 'failed', 1],
    ['cancelled', 'cancelled', 5],
  ])('exits by the cause: %s', async (cause, status, code) => {
    server.end({
      status,
      cause,
      error: 'It ended so.',
      verdict: { cause, confidence: 'proven', evidence: ['oom_kill 0 → 1'], message: 'It ended so.' },
    });
    const r = await stepwise(['run', 'writer', 'x'], []);
    expect(r.code).toBe(code);
    expect(r.out).toBe('');
    expect(r.err).toContain('It ended so.');
    expect(r.err).toContain('oom_kill 0 → 1');
  });

  it('prints the execution as one JSON object and nothing else', async () => {
    server.end(ended);
    const r = await stepwise(['run', 'writer', 'x', '--json'], []);
    expect(r.json()).toEqual([server.row]);
    expect(r.err).toBe('');
  });

  it('gives the id at once with --async, as durable work', async () => {
    const r = await stepwise(['run', 'writer', 'x', '--async'], []);
    expect([r.code, r.out]).toEqual([0, `${scriptedId}\n`]);
    expect(server.submits[0]!.body).toMatchObject({ async_mode: true });
  });

  it('stops waiting after --wait and says under which id it goes on', async () => {
    const r = await stepwise(['run', 'writer', 'x', '--wait', '0'], []);
    expect(r.code).toBe(11);
    expect(r.err).toContain(`drover logs -f ${scriptedId}`);
    expect(server.terminates).toEqual([]);
  });

  it('takes a chat, and the session that is named', async () => {
    server.end(ended);
    await stepwise(['run', 'writer', 'x', '--chat'], []);
    await stepwise(['run', 'writer', 'x', '--session', 's1', '--timeout', '60', '--max-turns', '3'], []);
    expect(server.submits[0]).toMatchObject({ path: '/api/agents/writer/chat', body: { message: 'x' } });
    expect(server.submits[1]!.body).toEqual({ message: 'x', session: 's1', timeout_seconds: 60, max_turns: 3 });
  });

  it('reads the message from a pipe, whole', async () => {
    server.end(ended);
    await stepwise(['run', 'writer', '-'], [], { stdin: 'line one\nline two – “ü”\n' });
    expect(server.submits[0]!.body).toEqual({ message: 'line one\nline two – “ü”\n' });
  });
});

describe('drover run and a server that goes away', () => {
  it(verifies('D15')('sends a submit whose answer was lost again with the same key'), async () => {
    server.loseAnswers = 2;
    server.end(ended);
    const r = await stepwise(['run', 'writer', 'x'], []);
    expect(r.code).toBe(0);
    expect(server.submits).toHaveLength(3);
    expect(new Set(server.submits.map((s) => s.key)).size).toBe(1);
  });

  it('waits for a server that restarts, and tells the ending that came meanwhile', async () => {
    server.row.status = 'running';
    server.say(text('before'));
    const r = await stepwise(
      ['run', 'writer', 'x'],
      [
        ['before', () => server.down()],
        [
          'The server does not answer',
          () => {
            server.end(ended);
            return server.up();
          },
        ],
      ],
    );
    expect(r.code).toBe(0);
    expect(r.out).toBe('All done.\n');
    expect(r.err.match(/before/g)).toHaveLength(1);
  });

  it('gives up on one that does not come back, and names the id', async () => {
    server.row.status = 'running';
    let now = 0;
    const r = await stepwise(
      ['run', 'writer', 'x'],
      [
        ['running', () => server.down()],
        [
          'does not answer',
          () => {
            now += 11 * 60_000;
          },
        ],
      ],
      { now: () => now },
    );
    expect(r.code).toBe(3);
    expect(r.err).toContain(scriptedId);
  });
});

describe('Ctrl-C in drover run', () => {
  it('cancels the run, and the cancelled ending is told', async () => {
    server.row.status = 'running';
    const r = await stepwise(
      ['run', 'writer', 'x'],
      [
        ['running', (interrupt) => interrupt()],
        ['Cancelling it', () => server.end({ status: 'cancelled', cause: 'cancelled' })],
      ],
    );
    expect(r.code).toBe(5);
    expect(server.terminates).toEqual([{ reason: 'Ctrl-C in drover run' }]);
  });

  it('stops watching at the second one, and leaves the run alone', async () => {
    server.row.status = 'running';
    const r = await stepwise(
      ['run', 'writer', 'x'],
      [
        ['running', (interrupt) => interrupt()],
        ['Ctrl-C again', (interrupt) => interrupt()],
      ],
    );
    expect(r.code).toBe(130);
    expect(r.err).toContain(`${scriptedId} goes on`);
  });
});

describe('drover cancel, logs and why', () => {
  it('cancel stops it through its agent', async () => {
    const r = await stepwise(['cancel', scriptedId, '--reason', 'wrong branch'], []);
    expect([r.code, r.out]).toEqual([0, 'It is being stopped.\n']);
    expect(server.terminates).toEqual([{ reason: 'wrong branch' }]);
  });

  it('logs shows what was said and how it ended; with --json each entry on a line', async () => {
    server.say(text('hello'));
    server.say({ type: 'output', stream: 'stderr', text: 'oh' });
    server.end(ended);
    const shown = await stepwise(['logs', scriptedId], []);
    expect(shown.out).toBe('hello\noh\n');
    expect(shown.err).toContain('success');
    const raw = await stepwise(['logs', scriptedId, '--json'], []);
    expect(raw.json()).toEqual([text('hello'), { type: 'output', stream: 'stderr', text: 'oh' }]);
  });

  it('each says 9 for an id that is not there', async () => {
    for (const command of ['cancel', 'logs', 'why']) expect((await stepwise([command, 'nobody'], [])).code).toBe(9);
  });
});
