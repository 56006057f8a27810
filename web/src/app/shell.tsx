/**
 * What stands around every page: navigation, top bar, the banner that says in words what holds the fleet, palette and keys. It
 * keeps the one line to the server open, and puts the focus where a reader goes on after each change of page.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from '../live/live.ts';
import { Held } from '../now/held.tsx';
import { useKeyboard } from './keyboard.ts';
import { PhoneNav, SideNav } from './nav.tsx';
import { TopBar } from './top-bar.tsx';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const KeysHelp = lazy(async () => ({ default: (await import('./keys-help.tsx')).KeysHelp }));
const ZoneDialog = lazy(async () => ({ default: (await import('./zone-dialog.tsx')).ZoneDialog }));

/** Back from a run to its row, if it is still there; else at the head of the new page. */
const useFocusAfterMove = () => {
  // Resolved: the new page is there, not only on its way; undefined until the first one is.
  const pathname = useRouterState({ select: (s) => s.resolvedLocation?.pathname });
  const before = useRef(useRouter().state.location.pathname);
  useEffect(() => {
    const from = before.current;
    if (pathname === undefined || from === pathname) return;
    before.current = pathname;
    const main = document.getElementById('work');
    const origin = main?.querySelector<HTMLElement>(`a[href="${CSS.escape(from)}"]`);
    (origin ?? main?.querySelector<HTMLElement>('h1') ?? main)?.focus({ preventScroll: true });
  }, [pathname]);
};

export const Shell = () => {
  const line = useLive(useQueryClient());
  useFocusAfterMove();
  const [open, setOpen] = useState<'palette' | 'keys' | 'zone' | null>(null);
  const close = useCallback(() => setOpen(null), []);
  const onFind = useCallback(() => setOpen('palette'), []);
  const onKeys = useCallback(() => setOpen('keys'), []);
  const onZone = useCallback(() => setOpen('zone'), []);
  useKeyboard({ palette: onFind, keys: onKeys });
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById('work')?.focus()}>
        To the work
      </button>
      <SideNav />
      <div className="shell-page">
        <TopBar line={line} onFind={onFind} onKeys={onKeys} onZone={onZone} />
        <Held />
        <main className="work" id="work" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <PhoneNav />
      <Suspense>
        {open === 'palette' && <Palette onClose={close} onKeys={onKeys} onZone={onZone} />}
        {open === 'keys' && <KeysHelp onClose={close} />}
        {open === 'zone' && <ZoneDialog onClose={close} />}
      </Suspense>
    </div>
  );
};
