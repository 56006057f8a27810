/** A sentence of a login moves a credential only where nobody but the CLI can have said it. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { diagnoseRow, type EvidenceRow } from './from-evidence-row.ts';

const lines = (...events: object[]): string => events.map((e) => JSON.stringify(e)).join('\n');

const clis = [
  {
    cli: 'claude',
    sentence: 'Invalid API key · Fix external API key',
    began: lines({ type: 'system', subtype: 'init', session_id: 's' }),
    spoke: lines({ type: 'assistant', message: { id: 'm', model: 'sonnet', content: [{ type: 'text', text: 'hm' }] } }),
    open: lines({
      type: 'assistant',
      message: { id: 'm', model: 'sonnet', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
    }),
  },
  {
    cli: 'codex',
    sentence: 'Your access token could not be refreshed because it was revoked. Please sign in again.',
    began: lines({ type: 'thread.started', thread_id: 's' }, { type: 'turn.started' }),
    spoke: lines({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'hm' } }),
    open: lines({ type: 'item.started', item: { id: 'i', type: 'command_execution', command: 'cat log' } }),
  },
  {
    cli: 'gemini',
    sentence: '[API Error: API key not valid. Please pass a valid API key.]',
    began: lines({ type: 'init', session_id: 's', model: 'pro' }),
    spoke: lines({ type: 'message', role: 'assistant', content: 'hm', delta: true }),
    open: lines({ type: 'tool_use', tool_id: 't', tool_name: 'run_shell_command', parameters: {} }),
  },
] as const;
const judged = (cli: EvidenceRow['cli'], exit_code: number, stdout_tail: string, stderr_tail = '') =>
  diagnoseRow({ id: 'x', cli, exit_code, stdout_tail, stderr_tail });
const elsewhere = { cause: 'unknown', confidence: 'unknown', tier: null };

describe.each(clis)('a sentence that $cli owns', ({ cli, sentence, began, spoke, open }) => {
  it(verifies('R36', 'D18')('on stderr switches before the model has said a word'), () => {
    for (const before of ['', began])
      expect(judged(cli, 1, before, sentence)).toMatchObject({
        cause: 'auth_failed',
        switch_credential: true,
        confidence: 'likely',
        tier: 'line',
      });
  });

  it(verifies('R36', 'D18')('is the tool’s own while a tool runs, on either stream and with either code'), () => {
    const running = `${began}\n${open}`;
    expect(judged(cli, 1, running, sentence)).toMatchObject(elsewhere);
    expect(judged(cli, 1, `${running}\n${sentence}`)).toMatchObject(elsewhere);
    for (const row of [judged(cli, 0, running, sentence), judged(cli, 0, `${running}\n${sentence}`)])
      expect(row).toMatchObject({ cause: 'no_result', switch_credential: false });
    for (const row of [judged(cli, 1, running, sentence), judged(cli, 1, `${running}\n${sentence}`)])
      expect(row.switch_credential).not.toBe(true);
  });

  it(verifies('R36')('on stderr proves nothing once the model has spoken, and nothing at all with exit 0'), () => {
    const talking = `${began}\n${spoke}`;
    expect(judged(cli, 1, talking, sentence)).toMatchObject({ ...elsewhere, switch_credential: null });
    expect(judged(cli, 0, `${talking}\n${sentence}`)).toMatchObject({ cause: 'no_result', switch_credential: false });
  });
});

describe('the report of a CLI that a tool has started', () => {
  const report = "An unexpected critical error occurred:[object Object]\n  reason: 'API_KEY_INVALID',\n  status: 400,";
  it(verifies('R36')('names a cause, and leaves the credential of the run alone'), () => {
    const [, , { began, open }] = clis;
    expect(judged('gemini', 1, began, report)).toMatchObject({ cause: 'auth_failed', switch_credential: true });
    expect(judged('gemini', 1, `${began}\n${open}`, report).switch_credential).toBeNull();
  });
});

describe('a plain answer with exit 0', () => {
  it(verifies('R33')('is no success of a CLI that speaks in events: another program may have its name'), () => {
    for (const cli of ['codex', 'gemini'] as const)
      expect(judged(cli, 0, 'All is well.\nGoodbye.')).toMatchObject({ cause: 'no_result' });
  });

  it('was the text mode of Claude Code in what others recorded, and is called likely', () => {
    expect(judged('claude', 0, 'All is well.')).toMatchObject({ cause: 'success', confidence: 'likely' });
  });
});

describe('an error that a gateway wrapped into another', () => {
  const inner = (error: object): string => JSON.stringify({ error });
  const failed = (message: string) =>
    diagnoseRow({
      id: 'x',
      cli: 'codex',
      exit_code: 1,
      result_event: { type: 'turn.failed', error: { message } },
    });

  it.each([
    [{ code: 'usage_limit_reached', message: 'The usage limit has been reached' }, 'usage_limit', true],
    [{ code: 'token_expired', message: 'x' }, 'auth_failed', true],
    [{ type: 'server_error', message: 'boom', code: 500 }, 'api_server_error', false],
    [{ type: 'invalid_request_error', message: 'Unknown parameter' }, 'invalid_request', false],
  ] as const)(verifies('R35')('Codex: %j is %s however often it was wrapped'), (error, cause, switches) => {
    const once = inner(error);
    const forms = [
      once,
      inner({ message: once }),
      inner({ message: inner({ message: once }) }),
      JSON.stringify({ detail: once }),
      JSON.stringify({ error: once }),
      JSON.stringify({ type: 'error', status: 400, error: { type: 'invalid_request_error', message: once } }),
    ];
    for (const form of forms)
      expect({ form, ...failed(form) }).toMatchObject({ form, cause, switch_credential: switches });
  });

  it('is read three layers deep, and endless layers never fail', () => {
    let deep = inner({ code: 'token_expired', message: 'x' });
    for (let n = 0; n < 4; n++) deep = inner({ message: deep });
    expect(failed(deep)).toMatchObject({ cause: 'invalid_request', switch_credential: false });
    expect(failed('{"error":'.repeat(50_000))).toMatchObject({ cause: 'unknown' });
  });
});
