/**
 * One classifier: what text means is decided in `outcome/` and nowhere else, and nothing that Drover itself can say is taken for
 * the failure of a login, by it or by the word lists that older systems use.
 */
import { relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { causeNames } from '../src/contract/causes.ts';
import { CredentialKind } from '../src/contract/credential.ts';
import { errors } from '../src/contract/errors.ts';
import { diagnoseRow } from '../src/outcome/from-evidence-row.ts';
import { olderReading } from './support/cases.ts';
import { eachNode, isTest, type Program, programsIn, readProgram } from './support/sources.ts';
import { verifies } from './support/verifies.ts';

type Node = Record<string, unknown> & { type?: string; start: number; end: number };

const nameOf = (file: string) => relative(resolve(), file);
const programs = programsIn('src', 'web/src')
  .filter((file) => !isTest(file))
  .map((file) => readProgram(file));

/** Names under which words of others travel: of a CLI, a tool, an API, a person, the kernel. */
const words =
  /^(messages?|errors?|err|stderr|stdout|texts?|response|result|output|answer|evidence|details?|title|lines?|said|body|content|reason|why|transcript|note|sentence)$/i;
/** Words by which failures are told. */
const vocabulary =
  /unauthori[sz]ed|authenticat|forbidden|\b(401|403|407|429|529)\b|rate.?limit|usage.?limit|credit balance|oauth|token expired|overloaded|quota|billing|insufficient|out of memory|\boom\b|oom.kill|killed|terminated|invalid.api.key|not logged in|permission denied|access denied|context.window|too long|timed.out|ECONN|ENOTFOUND|EAI_AGAIN|certificate/i;
const looks = [
  'test',
  'exec',
  'match',
  'matchAll',
  'search',
  'includes',
  'startsWith',
  'endsWith',
  'indexOf',
  'lastIndexOf',
];

const identifiers = (tree: unknown): string[] => {
  const found: string[] = [];
  eachNode(tree, (n) => {
    if (n.type === 'Identifier') found.push(n.name as string);
    return true;
  });
  return found;
};
const literals = (tree: unknown): string[] => {
  const found: string[] = [];
  eachNode(tree, (n) => {
    const { regex, value } = n as { regex?: { pattern: string }; value?: unknown };
    if (n.type === 'Literal' && regex) found.push(regex.pattern);
    else if (n.type === 'Literal' && typeof value === 'string') found.push(value);
    else if (n.type === 'TemplateElement') found.push((value as { raw: string }).raw);
    return true;
  });
  return found;
};
const isText = (node: unknown): boolean => {
  const { type, value } = (node ?? {}) as { type?: string; value?: unknown };
  return type === 'Literal' && typeof value === 'string';
};
/** A code of our own closed lists has been decided already. */
const ownCodes: readonly string[] = [...Object.keys(errors), ...causeNames, ...CredentialKind.options];
const tellsFailure = (value: string): boolean => vocabulary.test(value) && !ownCodes.includes(value);

/** `error.message`, `row.stderr`: the last name of a path. */
const lastName = (node: unknown): string => {
  const { type, name, property } = node as { type?: string; name?: string; property?: { name?: string } };
  return type === 'Identifier' ? (name ?? '') : type === 'MemberExpression' ? (property?.name ?? '') : '';
};

/**
 * Every place of a program that looks into text, or compares with a word by which failures are told. A page may look into what
 * it shows, for its form; but not for such words.
 */
const readings = ({ tree, text, file }: Program): string[] => {
  const found: string[] = [];
  const shows = nameOf(file).startsWith('web/');
  eachNode(tree, (raw) => {
    const n = raw as Node;
    if (n.type?.startsWith('TS') && n.type !== 'TSAsExpression' && n.type !== 'TSNonNullExpression') return false;
    const told = () => found.push(text.slice(n.start, n.end).replace(/\s+/g, ' ').slice(0, 160));
    if (n.type === 'CallExpression') {
      const callee = n.callee as { type?: string; property?: { name?: string }; object?: unknown };
      const method = callee.type === 'MemberExpression' ? (callee.property?.name ?? '') : '';
      if (looks.includes(method)) {
        const byPattern = method === 'test' || method === 'exec';
        const [subject, pattern] = byPattern ? [n.arguments, callee.object] : [callee.object, n.arguments];
        if (
          (!shows && identifiers(subject).some((x) => words.test(x))) ||
          literals(pattern).some((x) => vocabulary.test(x))
        )
          told();
      }
    }
    if (n.type === 'BinaryExpression' && /^[!=]==?$/.test(String(n.operator))) {
      const sides = [n.left, n.right];
      const [literal] = sides.filter(isText) as { value: string }[];
      const other = sides.find((s) => !isText(s));
      if (
        literal &&
        literal.value !== '' &&
        (tellsFailure(literal.value) || /^(message|stderr|stdout)$/.test(lastName(other)))
      )
        told();
    }
    if (n.type === 'SwitchCase' && isText(n.test) && tellsFailure((n.test as { value: string }).value))
      found.push(`case ${text.slice((n.test as Node).start, (n.test as Node).end)}`);
    if (
      n.type === 'Literal' &&
      (n.regex as { pattern: string } | undefined) &&
      vocabulary.test((n.regex as { pattern: string }).pattern)
    )
      told();
    return true;
  });
  return [...new Set(found)];
};

/** How many such places a file has at most, and why none of them decides how a run ended. */
const allowed: Record<string, [places: number, why: string]> = {
  'src/config.ts': [1, 'a setting of the operator: is it a number?'],
  'src/admission/agent-spec.ts': [1, 'a field of a person: no NUL byte'],
  'src/contract/agent.ts': [1, 'a size as people write it'],
  'src/cli/failure.ts': [1, 'our own hint is not said twice'],
  'src/cli/options.ts': [1, 'an argument: is it a number?'],
  'src/cli/program.ts': [1, 'our own sentence: does it end with a full stop?'],
  'src/cli/commands/agent-spec.ts': [1, 'an argument: is it a path?'],
  'src/runner/adapters/codex-thread.ts': [1, 'which lines of a session file are parsed at all'],
  'src/cli/commands/demo.ts': [1, 'the name of a scene of our own'],
  'src/cli/commands/diagnose.ts': [1, 'our own advice is not said twice'],
  'src/cli/doctor/machine.ts': [2, 'the first line of a version; the code of a connection'],
  'src/cli/show/ending.ts': [1, 'our own advice is not said twice'],
  'src/cli/show/transcript.ts': [1, 'shows an event by its type'],
  'src/credentials/lend.ts': [1, 'a line NAME=VALUE'],
  'src/runner/calls/relay.ts': [1, 'the type of an answer, from its header'],
  'src/api/routes/runner.ts': [1, 'splits bytes into lines'],
  'src/kernel/lines.ts': [1, 'splits bytes into lines'],
  'src/runner/transcript.ts': [1, 'is a line JSON?'],
  'src/runner/adapters/http.ts': [1, 'our own id in a list of ids'],
  'src/runner/launchers/cgroup-leaf.ts': [1, 'a number of the kernel'],
  'src/runner/launchers/proc.ts': [3, 'fields of /proc'],
  'src/runner/launchers/kernel-log.ts': [
    6,
    'the kernel’s log becomes a fact about a pid; what it means, outcome/ says',
  ],
  'src/runner/launchers/guard-journal.ts': [
    3,
    'the guards’ journal becomes a fact about a pid; what it means, outcome/ says',
  ],
  'src/evidence/parse-line.ts': [1, 'a scalar of JSON that is cut off'],
  'src/evidence/claude.ts': [1, 'an event by its type'],
  'src/evidence/codex.ts': [
    3,
    'events of one type that only their words tell apart become signals and denied tools, never causes',
  ],
  'src/evidence/gemini.ts': [1, 'how long a retry waits, for the limits of silence'],
};

describe('what text means', () => {
  const outside = programs.filter((p) => !nameOf(p.file).startsWith('src/outcome/'));

  it(
    verifies('R35', 'R36')('is decided in outcome/ alone: elsewhere only the places that are listed look into text'),
    () => {
      const found = Object.fromEntries(
        outside.flatMap((p) => {
          const places = readings(p);
          const name = nameOf(p.file);
          return places.length <= (allowed[name]?.[0] ?? 0) ? [] : [[name, places]];
        }),
      );
      expect(found).toEqual({});
      const names = outside.map((p) => nameOf(p.file));
      expect(Object.keys(allowed).filter((name) => !names.includes(name))).toEqual([]);
    },
  );

  it(verifies('R35')('stands in tables that nobody outside outcome/ takes in'), () => {
    const doors = [
      'diagnose',
      'decide',
      'operator-item',
      'from-evidence-row',
      'weather',
      'login',
      'login-items',
      'plan-windows',
    ].map((d) => `src/outcome/${d}.ts`);
    const taken = outside.flatMap((p) =>
      p.imports.map((i) => nameOf(i.from)).filter((to) => to.startsWith('src/outcome/')),
    );
    expect(taken.filter((to) => !doors.includes(to))).toEqual([]);
    expect(new Set(taken).size).toBeGreaterThan(2);
  });

  it('is found where it is planted', () => {
    const at = (text: string) => readings(readProgram(resolve('src/flow/x.ts'), text)).length > 0;
    expect(at("if (facts.stream.response.includes('limit')) rotate();")).toBe(true);
    expect(at('const bad = /401/.test(line);')).toBe(true);
    expect(at('if (/unauthorized/i.exec(x)) switchIt();')).toBe(true);
    expect(at("const dead = error.message === 'socket hang up';")).toBe(true);
    expect(at("switch (x) { case 'overloaded_error': retry(); }")).toBe(true);
    expect(at("if (kind === 'rate_limit_error') wait();")).toBe(true);
    expect(at('const re = /quota exceeded/i;')).toBe(true);
    expect(at("const x: 'rate_limit' | 'oauth' = name; if (names.includes(x)) go();")).toBe(false);
  });
});

describe('what Drover itself says', () => {
  /** Sentences of the program: literals of three words and more. Figures that are filled in may be any: 401 here. */
  const sentencesOf = ({ tree }: Program): string[] => {
    const found: string[] = [];
    eachNode(tree, (n) => {
      if (n.type === 'ImportDeclaration' || n.type?.startsWith('TSType')) return false;
      if (n.type === 'Literal' && typeof n.value === 'string') found.push(n.value);
      if (n.type === 'TemplateLiteral')
        found.push((n.quasis as { value: { cooked: string } }[]).map((q) => q.value.cooked).join('401'));
      return true;
    });
    return found.filter((t) => /\S \S+ \S/.test(t));
  };
  /** They hold the sentences of others, play a CLI, or speak to the database. */
  const notOurs =
    /^src\/(outcome\/(\w+-table|claude-sentences|anthropic-errors)\.ts|demo\/|store\/(migrations|schema))/;
  const said = programs
    .filter((p) => nameOf(p.file).startsWith('src/') && !notOurs.test(nameOf(p.file)))
    .flatMap((p) => sentencesOf(p).map((text) => ({ file: nameOf(p.file), text })));

  /** To a person who sets up Drover or stores a credential; never the error of an execution. */
  const aboutCredentials = [
    'the credentials it may draw from',
    '401 does not hold 32 bytes in base64.',
    'What providers said about credentials, newest first',
    'Send the token in ',
    '32 bytes in base64 that seal credentials',
  ];

  it(
    verifies(
      'D23',
      'R37',
    )('is fed back: in no stream of no CLI is any sentence taken for a cause, or switches anything'),
    () => {
      expect(said.length).toBeGreaterThan(700);
      const plain = { exit_code: 1, signal: null, stop_reason: null, oom_kill_delta: null, result_event: null };
      const wrong: unknown[] = [];
      for (const { file, text } of said)
        for (const cli of ['claude', 'codex', 'gemini', 'any'] as const)
          for (const tail of [{ stderr_tail: text }, { stdout_tail: text }]) {
            const got = diagnoseRow({ id: 's', cli, ...plain, ...tail });
            if (got.cause !== 'unknown' || got.switch_credential === true)
              wrong.push({ file, text, cli, cause: got.cause });
          }
      expect(wrong).toEqual([]);
    },
  );

  it(verifies('D23', 'R37')('is read by older systems for no login, but where it is about one'), () => {
    const taken = said.flatMap(({ file, text }) => {
      const { auth, agentAuth } = olderReading(text.replaceAll('401', '7'));
      return auth.length + agentAuth.length > 0 ? [{ file, text, found: [...auth, ...agentAuth] }] : [];
    });
    expect(taken.filter((t) => !aboutCredentials.some((known) => t.text.startsWith(known)))).toEqual([]);
  });
});
