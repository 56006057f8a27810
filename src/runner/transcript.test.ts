import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { LogEntry } from '../contract/runner-protocol.ts';
import type { Line } from '../kernel/lines.ts';
import type { Streams } from './streams.ts';
import { entriesOf } from './transcript.ts';

const entriesFor = (...texts: string[]) => {
  const lines = texts.map((text, i): Line => ({ text, bytes: text.length, end: i + 1 }));
  const streams = { lines: async (name) => (name === 'stdout' ? lines : []) } as Pick<Streams, 'lines'> as Streams;
  const slice = { seq: 1, n: lines.length, at: 1, stdout: [0, 1], stderr: [0, 0], note: null } as const;
  return entriesOf({ ...slice, stdout: [0, 1], stderr: [0, 0] }, streams, 'claude', (text) => text);
};
const nested = (levels: number) => `{"type":"x","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

it(
  verifies('D37')('an event that is nested without end is shown as text, and what follows is still told'),
  async () => {
    const after = '{"type":"result","note":"a { in a \\"text\\" and [ nests nothing"}';
    const entries = (await entriesFor(nested(50), nested(99), nested(100_000), after)).map((e) =>
      LogEntry.parse(JSON.parse(e)),
    );
    expect(entries.map((e) => [e.event?.type ?? null, e.text?.length ?? null])).toEqual([
      ['x', null],
      ['x', null],
      [null, nested(100_000).length],
      ['result', null],
    ]);
  },
);
