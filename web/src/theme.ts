/** Dark, light, or as the system has it; kept in this browser. The choice is no secret, which is all that may be kept there. */
import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const key = 'drover.theme';
const watchers = new Set<() => void>();

const stored = (): Theme => {
  try {
    const value = localStorage.getItem(key);
    return themes.find((t) => t === value) ?? 'system';
  } catch {
    // Storage is off in this browser: as the system has it.
    return 'system';
  }
};

let theme: Theme = stored();

export const applyTheme = (): void => {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
};

const setTheme = (next: Theme) => {
  theme = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // Then it holds for this visit.
  }
  applyTheme();
  for (const watcher of watchers) watcher();
};

export const useTheme = (): [Theme, (next: Theme) => void] => [
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => theme,
  ),
  setTheme,
];
