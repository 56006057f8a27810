/** Whatever is thrown at it: readers keep bounded facts, and `diagnose` gives a cause of the closed list. Never an exception. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { causeNames, causes } from '../contract/causes.ts';
import { type CliKind, cliKinds, emptyFacts, Facts } from '../contract/facts.ts';
import { stopReasons } from '../contract/stop-reasons.ts';
import { Verdict } from '../contract/verdict.ts';
import { createReader } from '../evidence/create.ts';
import { diagnose } from './diagnose.ts';

const word = fc.constantFrom(
  'type',
  'result',
  'assistant',
  'user',
  'system',
  'init',
  'api_retry',
  'rate_limit_event',
  'subtype',
  'success',
  'is_error',
  'error',
  'message',
  'content',
  'model',
  '<synthetic>',
  'tool_use',
  'tool_result',
  'turn.failed',
  'turn.completed',
  'item.completed',
  'item',
  'status',
  'rate_limit_info',
  'rejected',
  'rateLimitType',
  'resetsAt',
  'api_error_status',
  'text',
  'id',
  'name',
  '__proto__',
  'authentication_failed',
  'usage_limit_reached',
  'errors',
  'permission_denials',
  'usage',
  'modelUsage',
  'startup_failure_reason',
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(word, tie('any'), { maxKeys: 8 }),
  ),
})).any;
const event = fc.dictionary(word, value, { maxKeys: 8 }).map((e) => JSON.stringify(e));
const typed = fc
  .tuple(
    fc.constantFrom(
      'result',
      'assistant',
      'user',
      'system',
      'rate_limit_event',
      'error',
      'turn.failed',
      'item.completed',
      'message',
    ),
    fc.dictionary(word, value, { maxKeys: 8 }),
  )
  .map(([type, rest]) => JSON.stringify({ ...rest, type }));
const cut = fc.tuple(typed, fc.nat(400)).map(([text, at]) => text.slice(0, at));
const line = fc.oneof(
  event,
  typed,
  cut,
  fc.string({ unit: 'binary' }),
  fc.constant('{'),
  fc.constant('}'),
  fc.constant('\0\ud800\uFFFD'),
);
const stream = fc.array(fc.tuple(fc.constantFrom('stdout' as const, 'stderr' as const), line), { maxLength: 40 });

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });

describe('anything at all', () => {
  it(verifies('R35', 'D37')('never throws, and always gives a cause of the closed list'), () => {
    fc.assert(
      fc.property(
        fc.record({
          cli: fc.constantFrom(...cliKinds),
          stream,
          exit_code: maybe(fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer())),
          signal: maybe(fc.oneof(fc.constantFrom('SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGABRT', 'SIGXFSZ'), fc.string())),
          stop: maybe(fc.constantFrom(...stopReasons)),
          delta: maybe(fc.nat(3)),
          spawnCode: maybe(fc.constantFrom('ENOENT', 'EACCES', 'E2BIG', 'ESOMETHING')),
          now: maybe(fc.integer()),
        }),
        (given) => {
          const reader = createReader(given.cli as CliKind);
          for (const [name, text] of given.stream) reader.line(name, text, null);
          const facts: Facts = {
            ...emptyFacts(given.cli),
            stream: reader.facts(),
            exit_code: given.exit_code,
            signal: given.signal,
            stop: given.stop === null ? null : { reason: given.stop, at: 0, detail: null },
            memory:
              given.delta === null
                ? null
                : {
                    held_by: 'cgroup_v2',
                    limit_bytes: null,
                    peak_bytes: null,
                    oom_kills_before: 0,
                    oom_kills_after: given.delta,
                    oom_group_kills: null,
                    host_oom_kills_before: null,
                    host_oom_kills_after: null,
                  },
            spawn_error:
              given.spawnCode === null
                ? null
                : {
                    code: given.spawnCode,
                    syscall: null,
                    path: null,
                    message: '',
                    cwd_exists: null,
                    binary_exists: null,
                  },
          };
          // The facts are what the contract says, and survive the way to the store and back.
          expect(Facts.parse(JSON.parse(JSON.stringify(facts)))).toEqual(facts);
          const verdict = diagnose(facts, { now: given.now });
          expect(Verdict.safeParse(verdict).error).toBeUndefined();
          expect(causeNames).toContain(verdict.cause);
          if (verdict.switch_credential === true) expect(causes[verdict.cause].switches).toBe(true);
          expect(diagnose(facts, { now: given.now })).toEqual(verdict);
        },
      ),
      { numRuns: 1500 },
    );
  });
});
