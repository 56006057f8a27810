/**
 * Recorded endings through the whole runner: a real process with the name of the CLI writes what was recorded, in the shapes that
 * streams have, and ends as it did. Files, readers, holder and facts are the real ones; cause and switch are as of the record.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LentCredential } from '../../src/contract/credential.ts';
import { diagnose } from '../../src/outcome/diagnose.ts';
import { factsFromRow } from '../../src/outcome/from-evidence-row.ts';
import { cases, casesNow, moreCases } from '../support/cases.ts';
import { fixture } from '../support/held.ts';
import { cannotPlay, dresses, forPlainText, type Script, scriptOf } from '../support/replay.ts';
import { type RunnerBench, runnerBench } from '../support/runner-bench.ts';
import { verifies } from '../support/verifies.ts';

let bench: RunnerBench;
beforeAll(async () => {
  bench = await runnerBench();
});
afterAll(() => bench?.end());

type Cli = 'claude' | 'codex' | 'gemini';
const lent: Record<Cli, LentCredential> = {
  claude: { id: 'a', kind: 'anthropic_api_key', env: { ANTHROPIC_API_KEY: 'lent-key' } },
  codex: { id: 'b', kind: 'openai_api_key', env: { OPENAI_API_KEY: 'lent-key' } },
  gemini: { id: 'c', kind: 'gemini_api_key', env: { GEMINI_API_KEY: 'lent-key' } },
};
let scripts = 0;
const play = async (cli: Cli, script: Script) => {
  const path = join(bench.home, `script-${++scripts}.json`);
  writeFileSync(path, JSON.stringify(script));
  const { facts } = await bench.run({
    credential: lent[cli],
    agent: { adapter: cli, executable: fixture('plays-script.mjs'), env: { SCRIPT: path } },
  });
  return { facts, verdict: diagnose(facts, { now: casesNow }) };
};

/** Every row of the two smaller tables, every second one of Claude Code's. */
const rows = (cli: Cli) =>
  [...cases, ...moreCases]
    .filter(({ row }) => row.cli === cli && cannotPlay(row) === null)
    .filter((_, i) => cli !== 'claude' || i % 2 === 0);

describe('a recorded ending, by a real process', () => {
  it.each(['claude', 'codex', 'gemini'] as const)(
    verifies('R33', 'R35', 'R36', 'D37')('%s: has cause and switch of the record, in whatever shape the stream comes'),
    async (cli) => {
      const wrong: string[] = [];
      const left = rows(cli).map((c, i) => ({ ...c, i }));
      expect(left.length).toBeGreaterThan(20);
      const one = async () => {
        for (let next = left.shift(); next; next = left.shift()) {
          const { row, expected, i } = next;
          const events = !factsFromRow(row).stream.text_mode;
          const dress = dresses[i % (events ? dresses.length : forPlainText)]!;
          const { facts, verdict } = await play(cli, scriptOf(row, dress));
          if (verdict.cause !== expected.cause || verdict.switch_credential !== expected.switch_credential)
            wrong.push(
              `${row.id}, ${dress}: ${verdict.cause} ${verdict.switch_credential}, not ${expected.cause} ${expected.switch_credential}; ${facts.exit_code} ${facts.signal} ${verdict.evidence[0]}`,
            );
          if (dress === 'a grandchild that stays' && facts.stragglers !== 1)
            wrong.push(`${row.id}: ${facts.stragglers} left behind were ended`);
        }
      };
      await Promise.all(Array.from({ length: 6 }, one));
      expect(wrong).toEqual([]);
    },
  );

  it.each(['claude', 'codex', 'gemini'] as const)(
    verifies('R33')('%s: plain words of another program with exit 0 are no success'),
    async (cli) => {
      const base64 = Buffer.from('All is done.\nGoodbye.\n').toString('base64');
      const { verdict } = await play(cli, { steps: [{ stream: 'stdout', base64 }], exit: 0, signal: null });
      expect(verdict).toMatchObject({ cause: 'no_result', switch_credential: false });
    },
  );
});
