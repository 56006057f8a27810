/** The log of an execution as blocks, from its beginning and on while it grows; a line that drops is taken up again. */
import { useEffect, useState } from 'react';
import { api, inWords } from '../api.ts';
import { type Block, createFold } from '../transcript/fold.ts';

interface Read {
  blocks: readonly Block[];
  dropped: number;
  state: 'reading' | 'live' | 'ended' | 'broken';
  why: string;
}

/** What came within this time is shown at once: a log that streams fast must not redraw a page per line. */
const gatherMs = 120;

export const useTranscript = (id: string): Read => {
  const [read, setRead] = useState<Read>({ blocks: [], dropped: 0, state: 'reading', why: '' });
  useEffect(() => {
    const stop = new AbortController();
    const fold = createFold();
    let state: Read['state'] = 'reading';
    let why = '';
    let timer: ReturnType<typeof setTimeout> | null = null;
    const show = () => {
      timer = null;
      setRead({ blocks: fold.blocks(), dropped: fold.dropped, state, why });
    };
    const soon = () => {
      timer ??= setTimeout(show, gatherMs);
    };
    const run = async () => {
      for await (const item of api.transcript(id, { signal: stop.signal })) {
        if (item.kind === 'entry') fold.push(item.entry);
        else if (item.kind === 'ended') state = 'ended';
        else if (item.kind === 'up') state = 'live';
        else {
          state = 'broken';
          why = 'The line is down; it is tried again.';
        }
        soon();
      }
    };
    run().catch((e: unknown) => {
      if (stop.signal.aborted) return;
      state = 'broken';
      why = inWords(e);
      soon();
    });
    return () => {
      stop.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [id]);
  return read;
};
