/**
 * docs/truth.md, from the collected failures: how often Drover's verdicts are right, beside the word lists that systems of this
 * kind use, on the same rows. `npm run truth` writes the page; a test compares. The verdicts come from `diagnose`, as live.
 */
import { writeFileSync } from 'node:fs';
import type { Cause } from '../src/contract/causes.ts';
import { diagnoseRow, type EvidenceRow } from '../src/outcome/from-evidence-row.ts';
import { cases, casesNow, moreCases, olderReading } from '../test/support/cases.ts';

interface Judged {
  row: EvidenceRow;
  expected: { cause: Cause; switch_credential: boolean | null };
  cause: Cause;
  switches: boolean;
  confidence: string;
  /** What the word lists find in everything the run printed. */
  words: string[];
  group: Group;
}

type Group = 'login' | 'limit' | 'neither';
const groups: Partial<Record<Cause, Group>> = {
  auth_failed: 'login',
  auth_missing: 'login',
  access_denied: 'login',
  billing: 'login',
  usage_limit: 'limit',
  rate_limited: 'limit',
  credentials_exhausted: 'limit',
};
const groupOf = (cause: Cause): Group => groups[cause] ?? 'neither';

const judge = ({ row, expected }: Pick<Judged, 'row' | 'expected'>): Judged => {
  const verdict = diagnoseRow(row, { now: casesNow });
  const read = olderReading(`${row.stdout_tail ?? ''}\n${row.stderr_tail ?? ''}`);
  const login = [...read.auth, ...read.agentAuth];
  return {
    row,
    expected,
    cause: verdict.cause,
    switches: verdict.switch_credential === true,
    confidence: verdict.confidence,
    words: [...new Set([...login, ...read.rateLimit])],
    group: login.length > 0 ? 'login' : read.rateLimit.length > 0 ? 'limit' : 'neither',
  };
};

const percent = (n: number, of: number): string => (of === 0 ? '–' : `${((100 * n) / of).toFixed(1)} %`);
const line = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
const table = (head: string[], rows: string[]) => [line(...head), line(...head.map(() => '---')), ...rows].join('\n');

/** Rows whose evidence cannot decide a switch are compared for nobody. */
const decidable = (rows: Judged[]) => rows.filter((r) => r.expected.switch_credential !== null);

const switching = (who: string, rows: Judged[], says: (r: Judged) => boolean): string => {
  const all = decidable(rows);
  const right = all.filter((r) => says(r) && r.expected.switch_credential).length;
  const wrong = all.filter((r) => says(r) && !r.expected.switch_credential).length;
  const missed = all.filter((r) => !says(r) && r.expected.switch_credential).length;
  return line(who, right, wrong, missed, percent(right, right + wrong), percent(right, right + missed));
};

const listsSwitch = (r: Judged): boolean => r.words.length > 0;
const listsSwitchOnFailure = (r: Judged): boolean => r.words.length > 0 && r.row.exit_code !== 0;

const switches = (rows: Judged[]): string =>
  table(
    ['who decides', 'right switches', 'false switches', 'missed', 'precision', 'recall'],
    [
      switching('Drover', rows, (r) => r.switches),
      switching('word lists', rows, listsSwitch),
      switching('word lists, only where the exit code is not 0', rows, listsSwitchOnFailure),
    ],
  );

const clis = ['claude', 'codex', 'gemini', 'any'] as const;
const accuracy = (rows: Judged[]): string => {
  const of = (name: string, some: Judged[]) => {
    const exact = some.filter((r) => r.cause === r.expected.cause).length;
    const coarse = some.filter((r) => groupOf(r.cause) === groupOf(r.expected.cause)).length;
    const lists = some.filter((r) => r.group === groupOf(r.expected.cause)).length;
    return line(
      name,
      some.length,
      percent(exact, some.length),
      percent(coarse, some.length),
      percent(lists, some.length),
    );
  };
  return table(
    [
      'CLI',
      'rows',
      'Drover: the cause itself',
      'Drover: login, limit or neither',
      'word lists: login, limit or neither',
    ],
    [
      ...clis.map((cli) =>
        of(
          cli,
          rows.filter((r) => r.row.cli === cli),
        ),
      ),
      of('all', rows),
    ].filter((l) => !l.includes('| 0 | –')),
  );
};

const sureness = (rows: Judged[]): string =>
  table(
    ['confidence', 'rows', 'of them right', 'of them switch'],
    (['proven', 'likely', 'unknown'] as const).map((c) => {
      const some = rows.filter((r) => r.confidence === c);
      const right = some.filter((r) => r.cause === r.expected.cause).length;
      return line(c, some.length, right, some.filter((r) => r.switches).length);
    }),
  );

const mistakes = (rows: Judged[]): string => {
  const wrong = rows.filter(
    (r) =>
      r.cause !== r.expected.cause ||
      (r.expected.switch_credential !== null && r.switches !== r.expected.switch_credential),
  );
  if (wrong.length === 0) return 'Of these rows none is judged wrongly.';
  return table(
    ['row', 'expected', 'Drover says'],
    wrong.map((r) =>
      line(`\`${r.row.id}\``, `${r.expected.cause} ${r.expected.switch_credential}`, `${r.cause} ${r.switches}`),
    ),
  );
};

const fooled = (rows: Judged[]): string =>
  table(
    ['row', 'it really was', 'the words', 'the lists would'],
    decidable(rows)
      .filter((r) => listsSwitch(r) !== r.expected.switch_credential)
      .map((r) =>
        line(
          `\`${r.row.id}\``,
          `\`${r.expected.cause}\``,
          r.words.map((w) => `\`${w.trim()}\``).join(', '),
          r.words.length > 0 ? 'switch' : 'miss it',
        ),
      ),
  );

export const truthPage = (): string => {
  const given = cases.map(judge);
  const own = moreCases.map(judge);
  return `# How true the verdicts are

Made by \`npm run truth\` (scripts/truth.ts) from the rows in test/fixtures/cases; a test compares this page with what the script
says. Each row is one real ending of a CLI agent: what it printed last, how it exited, what was known besides, and what must
come out. The verdicts are those of \`diagnose\`, the one module that judges live runs, too.

The rows were known while the product was built, and hard ones are over-represented on purpose (two thirds are adversarial: words
or exit codes suggest something else): read these figures as "no row of these kinds is judged wrongly", not as rates of the field.

## Would the credential be switched?

A false switch burns a healthy login, a missed one lets work fail on a used-up one. ${given.length} rows; ${decidable(given).filter((r) => r.expected.switch_credential).length} of them ask for a
switch, ${given.length - decidable(given).length} cannot be decided from their evidence and are compared for nobody.

${switches(given)}

The word lists are those of test/fixtures/cases/word-lists.json, as such systems use them: lower-case substrings, searched in
everything the run printed; words of a kill veto the first list.

## Is the cause right?

Word lists know three answers at most, so they are compared at that grain: was it a login (or money), a limit, or neither?

${accuracy(given)}

## How sure it says it is

${sureness(given)}

\`proven\` is structured evidence or the way the process ended; \`likely\` a whole line that the CLI owns; \`unknown\` says that
nothing proves the cause. ${mistakes(given)}

## Further rows of our own

${own.length} endings of the same kinds from the vendors' own sentences and from reports (test/fixtures/cases/more.jsonl).

${switches(own)}

${accuracy(own)}

${mistakes(own)}

## What the words are fooled by

Rows of the collection on which the word lists decide wrongly, and what they found there.

${fooled(given)}
`;
};

if (import.meta.main) writeFileSync('docs/truth.md', truthPage());
