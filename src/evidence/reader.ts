/**
 * A reader takes the stream of one CLI line by line, as it comes, and keeps the structured evidence in bounded memory. It
 * never decides what anything means: that is `outcome/`. One implementation per CLI, one `createReader` for all.
 */
import type { CliKind, StreamFacts } from '../contract/facts.ts';
import type { Awaits } from './awaits.ts';

export interface EvidenceReader {
  /** One line without its newline. `at` = wall clock ms, null when read from a recording. Never throws. */
  line(stream: 'stdout' | 'stderr', text: string, at: number | null): LineSeen;
  /** What is known so far; may be called at any time. */
  facts(): StreamFacts;
  /** What it waits for now; null once the stream has said its last. Cheap: asked after every line. */
  awaits(): Awaits | null;
  /** The model has said something: its API works. Cheap, as above. */
  spoke(): boolean;
}

/** What the runner may need to act on at once. */
export interface LineSeen {
  /** The parsed event when the line was one, for the transcript. */
  event: Record<string, unknown> | null;
  /** The CLI said its terminal event for the prompt. */
  terminal: boolean;
  /** More waiting cannot help (evidence_stop): the run only repeats structured login failures, or waits for a far reset. */
  hopeless: boolean;
  /** Why, when it is not the login. */
  hopelessWhy?: string;
  /** The CLI says only that time passes: no sign of progress (Claude Code does so every 30 s of a tool). */
  heartbeat?: true;
}

export type ReaderFor = (cli: CliKind, options: { answerLeft: boolean }) => EvidenceReader;
