/**
 * In which order the lines of the two streams became the transcript, and when: one short record per slice, written before
 * the slice is sent. With the stream files it gives every entry its sequence number again after a restart, so that sending
 * twice changes nothing. Not synced: a crash of the host ends the agents anyway, and a torn last record is cut off.
 */
import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { z } from 'zod';

const Range = z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]);
const Slice = z.object({
  /** Sequence number of its first entry, from 1. */
  seq: z.number().int().min(1),
  /** Entries in it: first the lines of stdout, then those of stderr; or one note. */
  n: z.number().int().min(1),
  /** Wall clock ms at which the runner read it. */
  at: z.number().int(),
  stdout: Range,
  stderr: Range,
  /** The runner's own words, for the transcript: never evidence. */
  note: z.string().nullable(),
});
export type Slice = z.infer<typeof Slice>;

export interface Journal {
  /** What was there when it was opened. */
  readonly before: Slice[];
  append(slice: Slice): Promise<void>;
  close(): Promise<void>;
}

/** Whole records in order; stops at the first that is torn or out of order, and tells how many bytes were good. */
const parseJournal = (text: string): { slices: Slice[]; goodBytes: number } => {
  const slices: Slice[] = [];
  let goodBytes = 0;
  let nextSeq = 1;
  for (const line of text.split('\n').slice(0, -1)) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      break;
    }
    const slice = Slice.safeParse(value);
    if (!slice.success || slice.data.seq !== nextSeq) break;
    slices.push(slice.data);
    nextSeq += slice.data.n;
    goodBytes += Buffer.byteLength(line) + 1;
  }
  return { slices, goodBytes };
};

export const openJournal = async (path: string): Promise<Journal> => {
  let before: Slice[] = [];
  try {
    const text = await readFile(path, 'utf8');
    const parsed = parseJournal(text);
    before = parsed.slices;
    if (parsed.goodBytes < Buffer.byteLength(text)) await truncate(path, parsed.goodBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const file: FileHandle = await open(path, 'a', 0o600);
  return {
    before,
    append: async (slice) => {
      await file.appendFile(`${JSON.stringify(slice)}\n`);
    },
    close: () => file.close(),
  };
};
