/** Every sentence we can print: its kept wording, a rendering for every cause, and drill 23 against the older word lists. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { olderReading, wordLists } from '../../test/support/cases.ts';
import { verifies } from '../../test/support/verifies.ts';
import { type Cause, causeNames, causes } from '../contract/causes.ts';
import { errors } from '../contract/errors.ts';
import { emptyFacts, type Facts, type MemoryFacts } from '../contract/facts.ts';
import { diagnose } from './diagnose.ts';
import { endingOf } from './ending.ts';
import { diagnoseRow } from './from-evidence-row.ts';
import { durationText, renderMessage } from './messages.ts';
import { operatorItems, repeatedItem } from './operator-item.ts';

const mib = 1024 * 1024;
const memory = (more: Partial<MemoryFacts> = {}): MemoryFacts => ({
  held_by: 'cgroup_v1',
  limit_bytes: 384 * mib,
  peak_bytes: 384 * mib,
  oom_kills_before: 0,
  oom_kills_after: 1,
  oom_group_kills: null,
  host_oom_kills_before: null,
  host_oom_kills_after: null,
  ...more,
});

const messageFor = (cause: Cause, facts: Facts): string =>
  renderMessage(
    {
      cause,
      secondary: [],
      mechanism: null,
      confidence: 'unknown',
      tier: null,
      evidence: ['"401 unauthorized: your oauth token expired"'],
      retryable: false,
      switch_credential: false,
      reset_at: cause === 'usage_limit' ? 1_796_070_472_000 : null,
      attention: [],
    },
    facts,
    endingOf(facts),
  );

const killed = (signal: string, more: Partial<Facts> = {}): Facts => {
  const facts = { ...emptyFacts('claude'), signal, ...more };
  facts.stream.tool_calls = 12;
  facts.stream.turns = 7;
  return facts;
};

const notPrepared = (code: string): Facts => ({
  ...emptyFacts('claude'),
  prepare_error: { code, message: 'The workspace cannot be prepared: 401 unauthorized' },
});

const inTool = (name: string): Facts => {
  const facts = { ...emptyFacts('claude'), signal: 'SIGINT', stop: { reason: 'stall' as const, at: 1, detail: name } };
  facts.stream.open_tool = { name, input: '401', since: null };
  return facts;
};

/** Every message we can print, over all causes and ways to end. */
const everyMessage = (): { cause: Cause; text: string }[] => {
  const endings: Facts[] = [
    emptyFacts('claude'),
    { ...emptyFacts('claude'), exit_code: 0 },
    { ...emptyFacts('claude'), exit_code: 1 },
    { ...emptyFacts('command'), exit_code: 143 },
    notPrepared('workspace_unusable'),
    killed('SIGKILL'),
    killed('SIGTERM', { stop: { reason: 'deadline', at: 1, detail: null }, timeout_s: 401 }),
    killed('SIGKILL', { memory: memory({ limit_bytes: 401 * mib, peak_bytes: 403 * mib }) }),
    { ...emptyFacts('claude'), exit_code: 0, stop: { reason: 'cancel', at: 1, detail: null }, timeout_s: 4030 },
    inTool('Bash'),
    inTool('mcp__oauth__authentication'),
    inTool('Unauthorized'),
    { ...emptyFacts('claude'), prepare_error: { code: 'x', message: '401 unauthorized' } },
  ];
  return causeNames.flatMap((cause) => endings.map((facts) => ({ cause, text: messageFor(cause, facts) })));
};

/** Causes whose message may speak of logins, limits and money: there an older reading would be right. */
const aboutLogin: readonly Cause[] = ['auth_failed', 'auth_missing', 'access_denied'];
const aboutLimits: readonly Cause[] = [
  'usage_limit',
  'rate_limited',
  'billing',
  'credentials_exhausted',
  'budget_spent',
  'budget_exceeded',
];

describe('messages', () => {
  it(verifies('R37')('keep the wording of a kill, with its cause only when it is known'), () => {
    expect(diagnose(killed('SIGKILL', { memory: memory() })).message).toBe(
      'Execution terminated by SIGKILL after 12 tool calls / 7 turns (exit code -9). Killed by the kernel: out of memory, limit 384 MiB, peak 384 MiB. Raise resources.memory of the agent, or lower what it does at once.',
    );
    const unknown = diagnose(killed('SIGKILL', { memory: memory({ oom_kills_after: 0 }) })).message;
    expect(unknown).toMatch(
      /^Execution terminated by SIGKILL after 12 tool calls \/ 7 turns \(exit code -9\)\. Likely cause: /,
    );
    const byCode = killed('SIGKILL');
    byCode.signal = null;
    byCode.exit_code = 143;
    expect(diagnose(byCode).message).toMatch(
      /^Execution terminated by SIGTERM after .* \(exit code 143\)\. Likely cause: /,
    );
    expect(diagnose(killed('SIGINT')).message).toContain('(exit code -2)');
  });

  it(verifies('R37')('do not speak of a CLI or a log where nothing was started'), () => {
    for (const code of ['workspace_unusable', 'runner_fault', 'base_url_missing', 'EACCES']) {
      const { message } = diagnose(notPrepared(code));
      expect(message).toMatch(/^Not started: /);
      expect(message).not.toMatch(/CLI|log/);
    }
  });

  it(verifies('R37')('say "Likely cause" only when the cause is not known'), () => {
    for (const { cause, text } of everyMessage())
      if (text.includes('Likely cause')) expect(cause).toBe('killed_unknown');
  });

  it(verifies('R37')('every cause in the table has a rendering, and only success says nothing'), () => {
    for (const cause of causeNames) {
      const text = messageFor(cause, emptyFacts('claude'));
      if (cause === 'success') expect(text).toBe('');
      else {
        expect(text.length).toBeGreaterThan(8);
        expect(text).toMatch(/[.!]$/);
        expect(text).not.toMatch(/undefined|null|NaN/);
      }
    }
  });

  it('never quote what an agent, a tool or an API said', () => {
    for (const { text } of everyMessage()) expect(text).not.toContain('oauth token expired');
  });

  it('never print a duration that reads like a status', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 90 * 86_400 }), (s) => {
        expect(durationText(s)).not.toMatch(/\d{3}/);
      }),
    );
    expect(durationText(401)).toBe('6 min 41 s');
  });
});

describe('drill 23: the no-evidence text can never be taken for an auth failure', () => {
  it(
    verifies('D23', 'R35')('by older systems: no word of theirs is in a message that is not about a login or a limit'),
    () => {
      for (const { cause, text } of everyMessage()) {
        const read = olderReading(text);
        if (!aboutLogin.includes(cause))
          expect({ cause, text, found: [...read.auth, ...read.agentAuth] }).toEqual({ cause, text, found: [] });
        if (!aboutLogin.includes(cause) && !aboutLimits.includes(cause))
          expect({ cause, text, found: read.rateLimit }).toEqual({ cause, text, found: [] });
      }
    },
  );

  it(verifies('D23')('nor in the titles and advice of the table of causes'), () => {
    for (const cause of causeNames.filter((c) => !aboutLogin.includes(c))) {
      const said = `${causes[cause].title}. ${causes[cause].advice}`;
      const words = aboutLimits.includes(cause)
        ? [...wordLists.auth, ...wordLists.agent_auth]
        : [...wordLists.auth, ...wordLists.agent_auth, ...wordLists.rate_limit];
      expect({ cause, found: words.filter((w) => said.toLowerCase().includes(w)) }).toEqual({ cause, found: [] });
    }
  });

  it(verifies('D23', 'R42')('nor in what a person is alerted to, but for what the CLI itself said'), () => {
    const agent = { name: 'worker', memory_bytes: 401 * mib };
    const attentions = [
      'blocked_tools',
      'permission_mode_differs',
      'tool_oom',
      'memory_pressure',
      'work_not_kept',
    ] as const;
    for (const cause of causeNames.filter((c) => !aboutLogin.includes(c))) {
      const facts = killed('SIGKILL', { memory: memory({ limit_bytes: 401 * mib, peak_bytes: 403 * mib }) });
      const verdict = { ...diagnose(facts), cause, evidence: [], attention: [...attentions], message: '' };
      const items = [...operatorItems(verdict, facts, agent), repeatedItem(verdict, facts, agent)].filter(
        (i) => i !== null,
      );
      expect(items.length).toBeGreaterThan(3);
      for (const { title, evidence } of items)
        for (const text of [title, ...evidence]) {
          const { auth, agentAuth } = olderReading(text.replaceAll(/\d+ MiB|--memory \d+m/g, ''));
          expect({ cause, text, found: [...auth, ...agentAuth] }).toEqual({ cause, text, found: [] });
          const read = diagnoseRow({ id: 'i', cli: 'claude', exit_code: 1, stderr_tail: text });
          expect({ text, cause: read.cause, switches: read.switch_credential }).toMatchObject({
            text,
            cause: 'unknown',
          });
          expect(read.switch_credential).not.toBe(true);
        }
    }
  });

  it(verifies('D23')('nor in the errors of the API, which older clients read as well'), () => {
    for (const [code, e] of Object.entries(errors)) {
      const { auth, agentAuth } = olderReading(e.hint);
      if (e.status !== 401 && e.status !== 403)
        expect({ code, found: [...auth, ...agentAuth] }).toEqual({ code, found: [] });
      const read = diagnoseRow({ id: code, cli: 'claude', exit_code: 1, stderr_tail: `${code}: ${e.hint}` });
      expect({ code, cause: read.cause }).toEqual({ code, cause: 'unknown' });
    }
  });

  it(verifies('D23')('whatever the counts and sizes in it are: 401 tool calls and 403 turns are no login'), () => {
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.nat(2000),
        fc.nat(70_000),
        fc.constantFrom('SIGKILL', 'SIGTERM', 'SIGINT'),
        (tools, turns, size, signal) => {
          const facts = killed(signal, { memory: memory({ limit_bytes: size * mib, peak_bytes: size * mib }) });
          facts.stream.tool_calls = tools;
          facts.stream.turns = turns;
          const read = olderReading(diagnose(facts).message);
          expect([...read.auth, ...read.agentAuth, ...read.rateLimit]).toEqual([]);
        },
      ),
    );
  });

  it(
    verifies('D23', 'R35')('by Drover: every message fed back as output changes no verdict and switches nothing'),
    () => {
      for (const { text } of everyMessage().filter((m) => m.text !== '')) {
        const plain = {
          exit_code: 1,
          signal: null,
          stop_reason: null,
          oom_kill_delta: null,
          result_event: null,
        } as const;
        for (const cli of ['claude', 'codex', 'gemini', 'any'] as const)
          for (const row of [
            { id: 'm', cli, ...plain, stderr_tail: text },
            { id: 'm', cli, ...plain, stdout_tail: text },
          ]) {
            const got = diagnoseRow(row);
            expect({ text, cli, cause: got.cause }).toEqual({ text, cli, cause: 'unknown' });
            expect(got.switch_credential).not.toBe(true);
          }
        const said = JSON.stringify({
          type: 'assistant',
          message: { id: 'a', model: 'claude-sonnet-4-5', content: [{ type: 'text', text }] },
        });
        const result = { type: 'result', subtype: 'success', is_error: false, result: text };
        expect(
          diagnoseRow({ id: 'm', cli: 'claude', exit_code: 0, stdout_tail: said, result_event: result }),
        ).toMatchObject({
          cause: 'success',
          switch_credential: false,
        });
      }
    },
  );
});
