/** The tables in AGENTS.md and docs/ that repeat what the code says, made from it. `node scripts/docs-tables.ts` writes them; a test compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { settings } from '../src/config.ts';
import { causes } from '../src/contract/causes.ts';
import { afterEvidence, combined, type FaultEvidence, type FaultKind } from '../src/contract/credential-states.ts';
import { errors } from '../src/contract/errors.ts';
import { limits, stallLimits, waitReasons } from '../src/contract/limits.ts';
import { layers } from '../test/walls.ts';

const row = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
const table = (head: string[], rows: string[]) => [row(...head), row(...head.map(() => '---')), ...rows].join('\n');
const bound = (l: { default: number; min: number; max: number }) => [l.default, `${l.min} to ${l.max}`] as const;

/** Each state of one kind of failure × what can be seen, as the code decides it. Minutes, so that the table is readable. */
const stateRows = (): string[] => {
  const min = 60_000;
  const seen: [string, FaultKind, FaultEvidence][] = [
    ['the login was rejected', 'login', { saw: 'failure', kind: 'login', reset_at: null }],
    ['used up, reset in 60 min', 'limit', { saw: 'failure', kind: 'limit', reset_at: 60 * min }],
    ['used up, no reset named', 'limit', { saw: 'failure', kind: 'limit', reset_at: null }],
    ['used up, a reset that has passed', 'limit', { saw: 'failure', kind: 'limit', reset_at: -min }],
    ['a run went well', 'login', { saw: 'worked' }],
    ['a run went well', 'limit', { saw: 'worked' }],
  ];
  const before = [
    ['nothing', null],
    ['rejected, probe due in 10 min', { state: 'rejected', until: 10 * min, at: -min, again: 0 }],
    ['rejected, probe due', { state: 'rejected', until: 0, at: -min, again: 0 }],
    ['limited for 10 min', { state: 'limited', until: 10 * min, at: -min, again: 0 }],
    ['limited, reset passed', { state: 'limited', until: 0, at: -min, again: 0 }],
  ] as const;
  const words = (kind: FaultKind, from: (typeof before)[number][1], evidence: FaultEvidence): string => {
    const after = afterEvidence(from, kind, evidence, 0);
    const { state, until } = combined(after === null ? [] : [after], evidence.saw === 'worked' ? 0 : null);
    return `\`${state}\`${until === null ? '' : state === 'rejected' ? `, probe in ${until / min} min` : `, ${until / min} min`}`;
  };
  return seen.flatMap(([what, kind, evidence]) =>
    before
      .filter(([, from]) => from === null || (from.state === 'rejected') === (kind === 'login'))
      .map(([name, from]) => row(`\`${kind}\``, name, what, words(kind, from, evidence))),
  );
};

export const tables: { file: string; name: string; text: string }[] = [
  {
    file: 'AGENTS.md',
    name: 'layers',
    text: table(
      ['layer', 'may import'],
      Object.entries(layers).map(([layer, may]) =>
        row(
          `\`${layer}\``,
          may.length === 0 ? 'nothing of ours' : may[0] === '*' ? 'everything' : may.map((m) => `\`${m}\``).join(', '),
        ),
      ),
    ),
  },
  {
    file: 'docs/errors.md',
    name: 'errors',
    text: table(
      ['code', 'status', 'retry', 'what to do'],
      Object.entries(errors).map(([code, e]) => row(`\`${code}\``, e.status, e.retryable ? 'yes' : 'no', e.hint)),
    ),
  },
  {
    file: 'docs/errors.md',
    name: 'causes',
    text: table(
      ['cause', 'status', 'short code', 'can be retried', 'can switch', 'what happened', 'what to do'],
      Object.entries(causes).map(([cause, c]) =>
        row(
          `\`${cause}\``,
          c.status,
          c.short === null ? '' : `\`${c.short}\``,
          c.retryable ? 'yes' : 'no',
          c.switches ? 'yes' : 'no',
          c.title,
          c.advice,
        ),
      ),
    ),
  },
  {
    file: 'docs/limits.md',
    name: 'limits',
    text: table(
      ['limit', 'default', 'bounds', 'set by'],
      [
        row('running per agent', ...bound(limits.maxParallelTasks), '`max_parallel_tasks` of the agent'),
        row(
          'running in the fleet',
          ...bound(limits.agentCallLimit),
          '`BACKEND_AGENT_CALL_LIMIT` at start, then `PUT /api/fleet/limits`',
        ),
        row('backlog per agent', ...bound(limits.maxBacklogDepth), '`max_backlog_depth` of the agent'),
        row('run time in seconds', ...bound(limits.timeoutS), '`timeout_seconds` of the request or the agent'),
        row(
          'queue budget in seconds (0 = for ever)',
          ...bound(limits.queueTimeoutS),
          '`BACKEND_AGENT_CALL_QUEUE_TIMEOUT_S` at start, then `PUT /api/fleet/limits`',
        ),
        row(
          'queue budget of durable work in seconds',
          ...bound(limits.durableQueueTimeoutS),
          '`DROVER_DURABLE_QUEUE_TIMEOUT_S`',
        ),
        row('depth of calls', ...bound(limits.callDepth), '`DROVER_MAX_CALL_DEPTH`'),
        row('grace of a silent runner in seconds', ...bound(limits.runnerGraceS), '`DROVER_RUNNER_GRACE_S`'),
        row(
          'floor of free memory in per cent of the host’s (0 = none)',
          ...bound(limits.memoryFloorPercent),
          '`DROVER_MEMORY_FLOOR_PERCENT`',
        ),
        row('floor of free disk in MiB (0 = none)', ...bound(limits.diskFloorMib), '`DROVER_DISK_FLOOR_MIB`'),
        row('days that ended executions are kept', ...bound(limits.retentionDays), '`DROVER_RETENTION_DAYS`'),
      ],
    ),
  },
  {
    file: 'docs/limits.md',
    name: 'stalls',
    text: table(
      ['limit', 'the run waits for', 'seconds of silence', 'why so long'],
      Object.entries(stallLimits).map(([name, l]) => row(`\`${name}\``, l.about, l.seconds ?? 'none', l.why)),
    ),
  },
  {
    file: 'docs/credentials.md',
    name: 'credential-states',
    text: table(['kind', 'known before', 'then', 'state'], stateRows()),
  },
  { file: 'docs/limits.md', name: 'reasons', text: waitReasons.map((r) => `\`${r}\``).join(', ') },
  {
    file: 'docs/configuration.md',
    name: 'settings',
    text: table(
      ['variable', 'default', 'meaning'],
      Object.entries(settings).map(([name, s]) =>
        row(`\`${name}\``, s.default === '' ? '' : `\`${s.default}\``, s.about),
      ),
    ),
  },
];

const between = (t: { name: string }) => [`<!-- table:${t.name} -->`, '<!-- /table -->'] as const;

/** The page with its table put in; throws when the page lacks the markers. */
export const withTable = (page: string, t: (typeof tables)[number]): string => {
  const [open, close] = between(t);
  const from = page.indexOf(open);
  const to = page.indexOf(close, from);
  if (from < 0 || to < 0) throw new Error(`${t.file} lacks ${open} … ${close}`);
  return `${page.slice(0, from + open.length)}\n${t.text}\n${page.slice(to)}`;
};

if (import.meta.main) for (const t of tables) writeFileSync(t.file, withTable(readFileSync(t.file, 'utf8'), t));
