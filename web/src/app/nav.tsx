/** The navigation: all pages with their counts at the side; on a phone the five that are needed on the way, and the rest in a sheet. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useLimits, useOperatorItems } from '../now/data.ts';
import { Icon } from '../parts/icon.tsx';
import { count } from '../words/times.ts';
import { pages } from './pages.ts';

type Entry = { path: string; nav: NonNullable<(typeof pages)[number]['nav']> };
const entries: Entry[] = pages.flatMap((p) => (p.nav === null ? [] : [{ path: p.path, nav: p.nav }]));
const groups = [
  ['work', 'Fleet'],
  ['set-up', 'Set-up'],
] as const;

const useCounts = (): Record<'queued' | 'inbox', number> => ({
  queued: useLimits().data?.queued ?? 0,
  inbox: useOperatorItems().data?.length ?? 0,
});

const Count = ({ of }: { of: NonNullable<Entry['nav']['counts']> }) => {
  const n = useCounts()[of];
  if (n === 0) return null;
  return (
    <span className="nav-count" data-of={of}>
      {count(n)}
      <span className="hidden-label"> {of === 'queued' ? 'waiting' : 'open'}</span>
    </span>
  );
};

const Item = ({ path, nav }: Entry) => (
  <Link className="nav-item" to={path} activeOptions={{ exact: path === '/' }} activeProps={{ 'aria-current': 'page' }}>
    <Icon name={nav.icon} />
    <span className="label">{nav.label}</span>
    {nav.counts !== undefined && <Count of={nav.counts} />}
  </Link>
);

const Groups = () =>
  groups.map(([group, title]) => {
    const own = entries.filter((e) => e.nav.group === group);
    return own.length === 0 ? null : (
      <div key={group} className="nav-group">
        <h2>{title}</h2>
        {own.map((e) => (
          <Item key={e.path} {...e} />
        ))}
      </div>
    );
  });

export const SideNav = () => (
  <nav className="side-nav" aria-label="Pages">
    <Link className="brand" to="/" aria-label="Drover: what runs now">
      <img src="/icon.svg" alt="" />
      Drover
    </Link>
    <Groups />
  </nav>
);

/** As many as a thumb finds without looking. */
const onThePhone = 4;

export const PhoneNav = () => {
  const sheet = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (open) sheet.current?.showModal();
  }, [open]);
  return (
    <>
      <nav className="phone-nav" aria-label="Pages">
        {entries.slice(0, onThePhone).map((e) => (
          <Item key={e.path} {...e} />
        ))}
        <button type="button" className="nav-item" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          <Icon name="menu" />
          <span className="label">More</span>
        </button>
      </nav>
      {open && (
        <dialog
          ref={sheet}
          className="sheet"
          aria-label="All pages"
          onClose={() => setOpen(false)}
          // A link in it leads away: it has done its work. Beside it: put away.
          onClickCapture={(e) => {
            if (e.target === e.currentTarget || (e.target as Element).closest('a') !== null) sheet.current?.close();
          }}
        >
          <nav aria-label="All pages">
            <Groups />
          </nav>
        </dialog>
      )}
    </>
  );
};
