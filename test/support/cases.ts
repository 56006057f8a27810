/** The collected failure cases and the word lists of older systems, read once; for tests of `evidence/` and `outcome/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cause } from '../../src/contract/causes.ts';
import { type EvidenceRow, parseEvidenceLine } from '../../src/outcome/from-evidence-row.ts';

const folder = join(import.meta.dirname, '../fixtures/cases');

export interface Case {
  row: EvidenceRow;
  /** Null = cannot be decided from this evidence: then nothing is compared. */
  expected: { cause: Cause; retryable: boolean | null; switch_credential: boolean | null };
  /** The true cause needs evidence from outside. */
  about: { true_cause: Cause; needs: string[] };
}

const linesOf = (file: string) =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export const cases: Case[] = linesOf('failures.jsonl').map((line, i) => {
  const { expected, about } = JSON.parse(line) as Omit<Case, 'row'>;
  return { row: parseEvidenceLine(line, i + 1), expected, about };
});

/** Our own, from the vendors' sentences and the reports that the collection names. */
export const moreCases: Pick<Case, 'row' | 'expected'>[] = linesOf('more.jsonl').map((line, i) => {
  const { expected } = JSON.parse(line) as Omit<Case, 'row'>;
  return { row: parseEvidenceLine(line, i + 1), expected: { ...expected, retryable: null } };
});

/** The day the collection was made, for reset times without a date. */
export const casesNow = Date.UTC(2026, 10, 30, 18);

interface WordLists {
  auth: string[];
  agent_auth: string[];
  rate_limit: string[];
  kill_markers_that_veto_auth: string[];
}
export const wordLists = JSON.parse(readFileSync(join(folder, 'word-lists.json'), 'utf8')) as WordLists;

const hits = (words: string[], text: string): string[] => words.filter((w) => text.toLowerCase().includes(w));

/** What older systems take a text for: substrings, with the words of a kill as a veto for `auth`. */
export const olderReading = (text: string): { auth: string[]; agentAuth: string[]; rateLimit: string[] } => ({
  auth: hits(wordLists.kill_markers_that_veto_auth, text).length > 0 ? [] : hits(wordLists.auth, text),
  agentAuth: hits(wordLists.agent_auth, text),
  rateLimit: hits(wordLists.rate_limit, text),
});
