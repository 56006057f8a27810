/** What just happened, said once at the foot of the page and to screen readers. Errors stay until they are put away. */
import { useEffect, useSyncExternalStore } from 'react';
import { inWords } from '../api.ts';
import { Icon } from './icon.tsx';

interface Notice {
  id: number;
  tone: 'plain' | 'bad';
  text: string;
}

let notices: readonly Notice[] = [];
let nextId = 1;
const watchers = new Set<() => void>();

const put = (next: readonly Notice[]) => {
  notices = next;
  for (const watcher of watchers) watcher();
};

export const say = (text: string, tone: Notice['tone'] = 'plain'): void => {
  // The same again replaces itself: ten refused clicks are one line.
  put([...notices.filter((n) => n.text !== text), { id: nextId++, tone, text }].slice(-3));
};
export const sayProblem = (e: unknown): void => say(inWords(e), 'bad');
const away = (id: number) => put(notices.filter((n) => n.id !== id));

const shownMs = 5_000;

const One = ({ notice }: { notice: Notice }) => {
  useEffect(() => {
    if (notice.tone === 'bad') return;
    const timer = setTimeout(() => away(notice.id), shownMs);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div className="notice" data-tone={notice.tone}>
      <span>{notice.text}</span>
      <button type="button" className="quiet small" onClick={() => away(notice.id)}>
        <Icon name="close" />
        <span className="hidden-label">Put away</span>
      </button>
    </div>
  );
};

export const Notices = () => {
  const list = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite">
      {list.map((notice) => (
        <One key={notice.id} notice={notice} />
      ))}
    </div>
  );
};
