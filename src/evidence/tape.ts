/**
 * What a reader keeps while a stream goes by: the first and last plain lines and the few structured events that may matter,
 * each with its place, so that "the model spoke after it" can be told at any time. Memory is bounded whatever comes.
 */
import type { PlainLine, StreamSignal } from '../contract/facts.ts';
import { clipText } from './clip.ts';

/** Usage errors stand in the first lines, crashes in the last: 60 of each, as the contract says. */
const keptLines = 60;
/** A sentence of a CLI is shorter than this; a longer line is cut and marked, so that it can never equal one. */
const lineLength = 600;

interface Placed<T> {
  at: number;
  value: T;
}

interface Tape {
  line(stream: 'stdout' | 'stderr', text: string): void;
  /** Keeps the newest `keep` signals of a kind. */
  signal(kind: string, data: Record<string, unknown>, at: number | null, keep: number): void;
  modelSpoke(): void;
  readonly spoke: boolean;
  lines(): PlainLine[];
  signals(): StreamSignal[];
}

export const newTape = (): Tape => {
  let place = 0;
  let lastModel = -1;
  const first: Placed<Omit<PlainLine, 'model_output_after'>>[] = [];
  const last: Placed<Omit<PlainLine, 'model_output_after'>>[] = [];
  const kinds = new Map<string, Placed<Omit<StreamSignal, 'model_output_after'>>[]>();
  return {
    line(stream, text) {
      const trimmed = text.trimEnd();
      if (trimmed === '') return;
      const entry = { at: place++, value: { stream, text: clipText(trimmed, lineLength) } };
      if (first.length < keptLines) first.push(entry);
      else {
        last.push(entry);
        if (last.length > keptLines) last.shift();
      }
    },
    signal(kind, data, at, keep) {
      const list = kinds.get(kind) ?? [];
      list.push({ at: place++, value: { kind, at, data } });
      if (list.length > keep) list.shift();
      kinds.set(kind, list);
    },
    modelSpoke() {
      lastModel = place++;
    },
    get spoke() {
      return lastModel >= 0;
    },
    lines: () => [...first, ...last].map((l) => ({ ...l.value, model_output_after: l.at < lastModel })),
    signals: () =>
      [...kinds.values()]
        .flat()
        .sort((a, b) => a.at - b.at)
        .map((s) => ({ ...s.value, model_output_after: s.at < lastModel })),
  };
};
