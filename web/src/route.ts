/** The address of what is shown: `#/` is the page, `#/executions/ID` the same page with one run beside it. */
import { useSyncExternalStore } from 'react';

export const executionHref = (id: string): string => `#/executions/${encodeURIComponent(id)}`;

export const executionOf = (hash: string): string | null => {
  const m = /^#\/executions\/([^/?#]+)$/.exec(hash);
  if (m === null) return null;
  try {
    return decodeURIComponent(m[1]!);
  } catch {
    return null;
  }
};

const watch = (watcher: () => void) => {
  addEventListener('hashchange', watcher);
  return () => removeEventListener('hashchange', watcher);
};

export const useExecutionRoute = (): string | null => executionOf(useSyncExternalStore(watch, () => location.hash));

export const openExecution = (id: string): void => {
  location.hash = executionHref(id);
};

/** Back to the page alone; Back in the browser opens the run again. */
export const closeExecution = (): void => {
  location.hash = '#/';
};
