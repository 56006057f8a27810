/**
 * A list of any length of which only what is on the screen (and a dozen rows around it) is in the page. Rows have one height, so
 * that nothing is measured and nothing moves; the page itself scrolls, as people and their browsers expect.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 48rem)');
const watchNarrow = (watcher: () => void) => {
  narrow.addEventListener('change', watcher);
  return () => narrow.removeEventListener('change', watcher);
};

interface Rows<T> {
  rows: readonly T[];
  keyOf: (row: T) => string;
  render: (row: T) => ReactNode;
  label: string;
  /** Pixels on a wide screen and on a phone, the line between rows included. */
  height: number;
  phoneHeight: number;
  /** Called when the end comes near; absent when there is no more. */
  onEnd?: (() => void) | undefined;
}

export const VirtualRows = <T,>(props: Rows<T>) => {
  const { rows, keyOf, onEnd } = props;
  const isNarrow = useSyncExternalStore(watchNarrow, () => narrow.matches);
  const height = isNarrow ? props.phoneHeight : props.height;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // What stands above may come and go (a banner, a problem): looked at after each render, set when it differs.
  useLayoutEffect(() => {
    const at = Math.round((list.current?.getBoundingClientRect().top ?? 0) + scrollY);
    if (at !== top) setTop(at);
  });
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (place) => keyOf(rows[place]!),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is another layout of all rows
  useEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd !== undefined && last >= rows.length - 20) onEnd();
  }, [onEnd, last, rows.length]);
  return (
    <ul ref={list} className="relative" style={{ height: virtual.getTotalSize() }} aria-label={props.label}>
      {items.map((item) => (
        <li
          key={item.key}
          className="virtual"
          style={{ height, transform: `translateY(${item.start - top}px)` }}
          aria-posinset={item.index + 1}
          aria-setsize={onEnd === undefined ? rows.length : -1}
        >
          {props.render(rows[item.index]!)}
        </li>
      ))}
    </ul>
  );
};
