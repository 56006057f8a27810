/**
 * The keys of the page: `g` and a letter goes to a page, `j` and `k` walk through the rows, `/` finds, `?` tells of the keys, ⌘K or
 * Ctrl+K opens the palette. Letters belong to who types: in a field, in a dialog or with a modifier they are left alone.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { pages } from './pages.ts';

/** After `g` the letter is waited for this long. */
const chordMs = 1_200;

const typing = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], [role="menu"]') !== null;

const dialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** The row after or before the one that has the focus; the first when none has. */
const step = (by: 1 | -1) => {
  const rows = [...document.querySelectorAll<HTMLElement>('main a.open')];
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]!;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
};

export const useKeyboard = (open: { palette: () => void; keys: () => void }): void => {
  const go = useNavigate();
  const { palette, keys } = open;
  useEffect(() => {
    let chordUntil = 0;
    const onKey = (e: KeyboardEvent) => {
      if ((e.metaKey || e.ctrlKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === 'k') {
        e.preventDefault();
        if (!dialogOpen()) palette();
        return;
      }
      if (e.metaKey || e.ctrlKey || e.altKey || typing(e.target) || dialogOpen()) return;
      if (chordUntil > e.timeStamp) {
        chordUntil = 0;
        const page = pages.find((p) => p.nav?.key === e.key);
        if (page !== undefined) {
          e.preventDefault();
          void go({ to: page.path });
        }
        return;
      }
      switch (e.key) {
        case 'g':
          chordUntil = e.timeStamp + chordMs;
          return;
        case 'j':
          return step(1);
        case 'k':
          return step(-1);
        case '?':
          return keys();
        case '/': {
          const field = document.querySelector<HTMLElement>('main [data-find]');
          e.preventDefault();
          if (field === null) palette();
          else field.focus();
        }
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [go, palette, keys]);
};
