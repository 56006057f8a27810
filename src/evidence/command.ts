/**
 * Reader of the `command` adapter: any program. Its stdout is the answer and its lines are kept, nothing in them is parsed:
 * a program may print whatever it likes, so only how the process ended says how the run went.
 *
 * `any` is the same for recorded evidence whose CLI is not known: there a terminal event that names itself is taken as such.
 */
import { emptyStream } from '../contract/facts.ts';
import { newAnswerText } from './answer-text.ts';
import { plainOutput } from './awaits.ts';
import { clipRecord } from './clip.ts';
import { parseLine } from './parse-line.ts';
import type { EvidenceReader } from './reader.ts';
import { newTape } from './tape.ts';

/** Terminal events of the CLIs that have one, by their `type`. */
const terminalTypes = new Set(['result', 'turn.completed', 'turn.failed', 'container_state']);

export const commandReader = (cli: 'command' | 'any', answerLeft: boolean): EvidenceReader => {
  const tape = newTape();
  const answer = newAnswerText();
  const facts = { ...emptyStream(cli), text_mode: true };
  return {
    line(stream, text) {
      facts.bytes += text.length + 1;
      const parsed = cli === 'any' && stream === 'stdout' ? parseLine(text) : null;
      if (parsed?.kind === 'event' && typeof parsed.event.type === 'string') {
        if (!terminalTypes.has(parsed.event.type)) return { event: parsed.event, terminal: false, hopeless: false };
        facts.results_seen++;
        facts.result ??= clipRecord(parsed.event);
        return { event: parsed.event, terminal: true, hopeless: false };
      }
      if (stream === 'stdout' && !answerLeft) answer.add(text);
      tape.line(stream, text);
      return { event: null, terminal: false, hopeless: false };
    },
    facts: () => ({ ...facts, response: answer.text(), lines: tape.lines(), signals: tape.signals() }),
    spoke: () => false,
    awaits: () => plainOutput,
  };
};
