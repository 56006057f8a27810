/** Endings of Codex and Gemini CLI as their real programs (0.171, 0.61) wrote them against a scripted provider on loopback. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { createReader } from '../evidence/create.ts';
import { diagnose } from './diagnose.ts';

const ended = (cli: 'codex' | 'gemini', stdout: object[], stderr: string[], ending: Partial<Facts>): Verdict => {
  const reader = createReader(cli);
  for (const event of stdout) reader.line('stdout', JSON.stringify(event), 1);
  for (const line of stderr) reader.line('stderr', line, 1);
  const facts = { ...emptyFacts(cli), spawned_at: 1, ended_at: Date.UTC(2026, 10, 30, 18, 0), ...ending };
  return diagnose({ ...facts, stream: reader.facts() });
};
const deadline: Partial<Facts> = { signal: 'SIGKILL', stop: { reason: 'deadline', at: 1, detail: null } };

describe('Codex', () => {
  const began = [{ type: 'thread.started', thread_id: 't' }, { type: 'turn.started' }];
  const failed = (message: string) =>
    ended('codex', [...began, { type: 'error', message }, { type: 'turn.failed', error: { message } }], [], {
      exit_code: 1,
    });
  const said: [string, Partial<Verdict>][] = [
    [
      'rate limit exceeded: Rate limit reached for gpt-5.5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 1.5s.',
      {
        cause: 'rate_limited',
        switch_credential: false,
        retryable: true,
        reset_at: Date.UTC(2026, 10, 30, 18, 0, 1, 500),
      },
    ],
    [
      'Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden), url: http://127.0.0.1:1/v1/responses',
      { cause: 'edge_blocked', switch_credential: false, retryable: false },
    ],
    [
      'unexpected status 401 Unauthorized: Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys., url: http://127.0.0.1:1/v1/responses, request id: req_20',
      { cause: 'auth_failed', switch_credential: true },
    ],
    [
      'unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: http://127.0.0.1:1/v1/responses',
      { cause: 'auth_missing', switch_credential: false },
    ],
    [
      'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 10:41 PM.',
      { cause: 'usage_limit', switch_credential: true, reset_at: Date.UTC(2026, 10, 30, 22, 41) },
    ],
    [
      'stream disconnected before completion: Transport error: network error: error decoding response body',
      { cause: 'network_failure', switch_credential: false },
    ],
  ];
  it.each(said)(verifies('R35')('says "%s"'), (message, expected) => {
    expect(failed(message)).toMatchObject({ ...expected, tier: 'structured', confidence: 'proven' });
  });

  const tries: [string, string][] = [
    ['waiting for network (Connection failed: error sending request)', 'network_failure'],
    ['2/5 (stream disconnected before completion: failed to lookup address information)', 'network_failure'],
    ['3/5 (We’re currently experiencing high demand, which may cause temporary errors.)', 'api_server_error'],
    ['4/5 (unexpected status 401 Unauthorized: Incorrect API key provided., url: http://x/y)', 'auth_failed'],
  ];
  it.each(tries)(verifies('D22')('stopped at its deadline in "Reconnecting... %s" names what it met'), (why, met) => {
    const verdict = ended('codex', [...began, { type: 'error', message: `Reconnecting... ${why}` }], [], deadline);
    expect(verdict).toMatchObject({ cause: 'timed_out', secondary: [met], switch_credential: false });
  });

  it('that cannot go on with a session of another provider is told what to change', () => {
    const line =
      'Error: thread/resume: thread/resume failed: This chat uses model provider “drover”, which is no longer configured. Restore this provider’s configuration to continue. (code -32600), data: {"type":"modelProviderNotConfigured","modelProvider":"drover"}';
    expect(ended('codex', [], [line], { exit_code: 1 })).toMatchObject({ cause: 'bad_config' });
  });
});

describe('Gemini CLI', () => {
  const init = { type: 'init', session_id: 's', model: 'gemini-2.5-pro' };
  const failed = (message: string, exit_code: number) =>
    ended('gemini', [init, { type: 'result', status: 'error', error: { type: 'unknown', message } }], [], {
      exit_code,
    });

  it(
    verifies('R36')('never takes an intermediary’s page for a refusal of Google, whatever status its SDK gave it'),
    () => {
      const page = '<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title></html>';
      const body = JSON.stringify({ error: { message: page, code: 403, status: 'Forbidden' } });
      expect(failed(`[API Error: ${body}]`, 147)).toMatchObject({ cause: 'edge_blocked', switch_credential: false });
      const plain = JSON.stringify({
        error: { message: 'blocked by policy of the proxy', code: 403, status: 'Forbidden' },
      });
      expect(failed(`[API Error: ${plain}]`, 147)).toMatchObject({ cause: 'edge_blocked', switch_credential: false });
      const gateway = JSON.stringify({ error: { message: '<html>502</html>', code: 502, status: 'Bad Gateway' } });
      expect(failed(`[API Error: ${gateway}]`, 246)).toMatchObject({ cause: 'api_server_error' });
      const google = JSON.stringify({
        error: { message: 'Not for this account.', code: 403, status: 'PERMISSION_DENIED' },
      });
      expect(failed(`[API Error: ${google}]`, 147)).toMatchObject({ cause: 'access_denied', switch_credential: true });
    },
  );

  it('whose stream broke off met the network', () => {
    expect(failed('[API Error: terminated]', 1)).toMatchObject({ cause: 'network_failure', retryable: true });
  });

  const blocked: [string, string][] = [
    ['The model response was blocked due to safety settings.', 'policy_refusal'],
    ['The model response was blocked due to recitation/copyright filters.', 'policy_refusal'],
    [
      'Model response was truncated because it exceeded the token limit. Try using /compress to free up context space.',
      'output_limit',
    ],
    [
      'The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again.',
      'malformed_response',
    ],
  ];
  it.each(blocked)(verifies('R33')('with exit 0 and "%s" is no success'), (message, cause) => {
    const stdout = [
      init,
      { type: 'error', severity: 'error', message },
      { type: 'result', status: 'error', stats: {} },
    ];
    expect(ended('gemini', stdout, [], { exit_code: 0 })).toMatchObject({ cause, switch_credential: false });
  });

  const tries: [string, string][] = [
    [
      'Attempt 3 failed with status 500. Retrying with backoff... _ApiError: {"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}',
      'api_server_error',
    ],
    [
      'Attempt 3 failed with status 503. Retrying with backoff... _ApiError: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}',
      'overloaded',
    ],
    [
      'Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request',
      'network_failure',
    ],
    ['Attempt 1 failed: Quota exceeded for quota metric x.', 'rate_limited'],
  ];
  it.each(tries)(verifies('D22')('stopped at its deadline after "%s" names what it met'), (line, met) => {
    expect(ended('gemini', [init], [line], deadline)).toMatchObject({ cause: 'timed_out', secondary: [met] });
  });

  it(verifies('R36', 'D19')('stopped while it waits for a reset tomorrow is at its limit, with the reset'), () => {
    const line =
      'Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 19h59m51s.. Retrying after 76026458ms...';
    const stop = { reason: 'evidence_stop' as const, at: 1, detail: 'the CLI waits 1267 minutes for a limit' };
    expect(ended('gemini', [init], [line], { exit_code: 0, stop })).toMatchObject({
      cause: 'usage_limit',
      switch_credential: true,
      confidence: 'likely',
      tier: 'line',
      reset_at: Date.UTC(2026, 11, 1, 13, 59, 51),
    });
  });

  it(verifies('D16', 'R33')('that exits 0 on a signal from outside has no result, and no success'), () => {
    expect(ended('gemini', [init], [], { exit_code: 0 })).toMatchObject({
      cause: 'no_result',
      switch_credential: false,
    });
  });
});
