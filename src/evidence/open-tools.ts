/**
 * Tool calls that have started and not ended, and how many there were. What was running when a process died may be what
 * killed it, and a stall names it. Bounded: only the newest fifty open calls are remembered.
 */
import { clipText } from './clip.ts';

export interface OpenTool {
  name: string;
  input: string | null;
  since: number | null;
}

export interface OpenTools {
  start(id: string | null, name: string, input: unknown, at: number | null): void;
  /** A result without an id ends the oldest call without one. */
  end(id: string | null): void;
  endAll(): void;
  readonly started: number;
  newest(): OpenTool | null;
  all(): readonly OpenTool[];
}

export const newOpenTools = (): OpenTools => {
  let started = 0;
  const open: { id: string | null; tool: OpenTool }[] = [];
  return {
    start(id, name, input, at) {
      if (id !== null && open.some((o) => o.id === id)) return;
      started++;
      open.push({ id, tool: { name: clipText(name, 200), input: inputText(input), since: at } });
      if (open.length > 50) open.shift();
    },
    end(id) {
      const at = open.findIndex((o) => o.id === id);
      if (at >= 0) open.splice(at, 1);
    },
    endAll() {
      open.length = 0;
    },
    get started() {
      return started;
    },
    newest: () => open.at(-1)?.tool ?? null,
    all: () => open.map((o) => o.tool),
  };
};

const inputText = (input: unknown): string | null => {
  if (input === null || input === undefined) return null;
  if (typeof input === 'string') return clipText(input, 600);
  const command = (input as { command?: unknown }).command;
  if (typeof command === 'string') return clipText(command, 600);
  try {
    return clipText(JSON.stringify(input), 600);
  } catch {
    return null;
  }
};
