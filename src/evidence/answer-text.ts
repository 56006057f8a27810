/**
 * A plain-text answer from its lines: the whole of it up to 1 MiB, then a plain word that the rest is in the log. For readers of
 * recordings as the lines come; the runner makes it from the file at the end (runner/plain-answer.ts).
 */

/** What a caller is handed; more belongs into a file of the workspace. */
const maxBytes = 1024 * 1024;

interface AnswerText {
  add(line: string): void;
  /** No more is taken. */
  readonly full: boolean;
  /** Null when nothing came. */
  text(): string | null;
}

export const newAnswerText = (): AnswerText => {
  const parts: string[] = [];
  let size = 0;
  let cut = false;
  return {
    add(line) {
      if (cut) return;
      const room = maxBytes - size;
      if (line.length + 1 > room) {
        parts.push(line.slice(0, Math.max(0, room)));
        cut = true;
      } else {
        parts.push(line);
        size += line.length + 1;
      }
    },
    get full() {
      return cut;
    },
    text() {
      if (parts.length === 0) return null;
      const body = parts.join('\n').trimEnd().toWellFormed();
      return cut ? `${body}\n[cut at 1 MiB; the log of the run has the rest]` : body;
    },
  };
};
