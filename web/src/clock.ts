/**
 * The page's time: one ticker for all ages on the screen, set by the server's clock, since a phone's may be minutes off.
 * The ticker runs only while something watches it and the page is visible.
 */
import { useSyncExternalStore } from 'react';

let offsetMs = 0;
let shown = Math.floor(Date.now() / 1000) * 1000;
let timer: ReturnType<typeof setInterval> | null = null;
const watchers = new Set<() => void>();

/** `serverNow` as told in an answer that took from `asked` to now. */
export const setServerTime = (serverNow: number, asked: number): void => {
  const between = (asked + Date.now()) / 2;
  // Within a second it is the line, not the clock.
  offsetMs = Math.abs(serverNow - between) < 1_000 ? 0 : Math.round(serverNow - between);
};

export const now = (): number => Date.now() + offsetMs;

const tick = () => {
  if (document.hidden) return;
  shown = now();
  for (const watcher of watchers) watcher();
};

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  if (timer === null) {
    shown = now();
    timer = setInterval(tick, 1_000);
    document.addEventListener('visibilitychange', tick);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    document.removeEventListener('visibilitychange', tick);
  };
};

/** The time of the last tick: re-renders its component once a second, so keep that component small. */
export const useNow = (): number => useSyncExternalStore(watch, () => shown);
