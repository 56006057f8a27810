/**
 * What a program with plain output answers, from the file it wrote it to. Made at the end: kept line by line while 200 of them
 * ran, answers were 17 MB of the runner after half a minute, and up to 1 MiB each later.
 */
import { newAnswerText } from '../evidence/answer-text.ts';
import { splitLines } from '../kernel/lines.ts';
import type { Hide } from './redact.ts';
import type { Streams } from './streams.ts';

const chunkBytes = 256 * 1024;

/** Of the first `to` bytes, which end where a line ends. Null when nothing was printed. */
export const plainAnswer = async (streams: Pick<Streams, 'read'>, to: number, hide: Hide): Promise<string | null> => {
  const answer = newAnswerText();
  const splitter = splitLines();
  while (!answer.full && splitter.at < to) {
    const chunk = await streams.read('stdout', splitter.at, Math.min(chunkBytes, to - splitter.at));
    if (chunk.length === 0) break;
    for (const line of splitter.push(chunk)) answer.add(hide(line.text));
  }
  const rest = splitter.rest();
  if (rest !== null) answer.add(hide(rest.text));
  return answer.text();
};
