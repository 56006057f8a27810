/**
 * The time zone in which moments are written: that of this browser, or one that was chosen; kept in this browser. Ages are the
 * same in every zone; the exact moment stands on hover.
 */
import { useSyncExternalStore } from 'react';

const key = 'drover.zone';
const watchers = new Set<() => void>();

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const isZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};

/** Null = as the browser has it. */
let chosen: string | null = (() => {
  try {
    const stored = localStorage.getItem(key);
    return stored !== null && isZone(stored) ? stored : null;
  } catch {
    return null;
  }
})();

export const setZone = (zone: string | null): void => {
  chosen = zone;
  try {
    if (zone === null) localStorage.removeItem(key);
    else localStorage.setItem(key, zone);
  } catch {
    // Then it holds for this visit.
  }
  for (const watcher of watchers) watcher();
};

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const useChosenZone = (): string | null => useSyncExternalStore(watch, () => chosen);
export const useZone = (): string => useChosenZone() ?? browserZone();
