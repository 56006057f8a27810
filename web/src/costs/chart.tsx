/** Cost by day, stacked by kind: billed solid, notional hatched, of unknown kind dotted. The same figures stand in the table below it. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import { cost } from '../words/times.ts';
import type { CostLine } from './data.ts';

const kinds = ['billed', 'notional', 'unknown'] as const;
type Kind = (typeof kinds)[number];
const words = { billed: 'billed', notional: 'notional: at list price, by a plan', unknown: 'kind not known' } as const;
const colours = { billed: '--color-accent', notional: '--color-run', unknown: '--color-wait' } as const;

/** A token of the page as the canvas needs it. */
const colour = (name: string): string => {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
};

/** Told apart without colour too. */
const pattern = (kind: Kind, ink: string): CanvasPattern | string => {
  if (kind === 'billed') return ink;
  const tile = document.createElement('canvas');
  tile.width = 8;
  tile.height = 8;
  const draw = tile.getContext('2d');
  if (draw === null) return ink;
  draw.strokeStyle = ink;
  draw.fillStyle = ink;
  draw.lineWidth = 2;
  if (kind === 'notional') {
    draw.beginPath();
    for (const x of [-8, 0, 8]) {
      draw.moveTo(x, 8);
      draw.lineTo(x + 8, 0);
    }
    draw.stroke();
  } else for (const at of [1, 5]) draw.fillRect(at, at, 3, 3);
  return draw.createPattern(tile, 'repeat') ?? ink;
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const watchTheme = (watcher: () => void) => {
  const seen = new MutationObserver(watcher);
  seen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  dark.addEventListener('change', watcher);
  return () => {
    seen.disconnect();
    dark.removeEventListener('change', watcher);
  };
};
const theme = () => `${document.documentElement.dataset.theme ?? ''}${dark.matches}`;

const Swatch = ({ kind }: { kind: Kind }) => (
  <svg viewBox="0 0 12 12" aria-hidden="true" style={{ color: `var(${colours[kind]})` }}>
    {kind === 'billed' && <rect width="12" height="12" fill="currentcolor" />}
    {kind === 'notional' && <path d="M0 6l6-6M0 12L12 0M6 12l6-6" stroke="currentcolor" strokeWidth="2" />}
    {kind === 'unknown' && <path d="M1 1h3v3H1zM7 1h3v3H7zM1 7h3v3H1zM7 7h3v3H7z" fill="currentcolor" />}
  </svg>
);

export const CostChart = ({ days }: { days: CostLine[] }) => {
  const place = useRef<HTMLDivElement>(null);
  const shown = useSyncExternalStore(watchTheme, theme);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the canvas holds the colours of the theme it was drawn in
  useEffect(() => {
    const root = place.current;
    if (root === null || days.length === 0) return;
    const at = days.map((_d, n) => n);
    // A day without cost has no bar, not one of no height.
    const bar = (usd: number) => (usd > 0 ? usd : null);
    const billed = days.map((d) => bar(d.billed_usd));
    const withNotional = days.map((d) => bar(d.billed_usd + d.notional_usd));
    const all = days.map((d) => bar(d.billed_usd + d.notional_usd + d.unknown_usd));
    const ink = colour('--color-ink-3');
    const line = colour('--color-line');
    const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
    // The tallest first: each one in front leaves its own part of the one behind.
    const series = (kind: Kind): uPlot.Series => ({
      label: kind,
      fill: () => pattern(kind, colour(colours[kind])),
      stroke: colour(colours[kind]),
      width: 1,
      points: { show: false },
      ...(bars !== undefined && { paths: bars }),
    });
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '11px sans-serif' };
    const ground = colour('--color-surface');
    /** So that what is hatched in front does not show what is behind. */
    const blank = (): uPlot.Series => ({
      fill: ground,
      stroke: ground,
      width: 1,
      points: { show: false },
      ...(bars !== undefined && { paths: bars }),
    });
    const plot = new uPlot(
      {
        width: root.clientWidth,
        height: 200,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: [-0.6, days.length - 0.4] },
          y: { range: (_u, _min, max) => [0, Math.max(max * 1.1, 0.01)] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: 60,
            incrs: [1, 2, 5, 7, 14, 30],
            values: (_u, marks) => marks.map((n) => (Number.isInteger(n) ? (days[n]?.day?.slice(5) ?? '') : '')),
          },
          { ...axis, size: 56, values: (_u, marks) => marks.map((usd) => `$${usd < 1 ? usd.toFixed(2) : usd}`) },
        ],
        series: [{}, series('unknown'), blank(), series('notional'), blank(), series('billed')],
      },
      [at, all, withNotional, withNotional, billed, billed],
      root,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: root.clientWidth, height: 200 }));
    resized.observe(root);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [days, shown]);
  const total = days.reduce((sum, d) => sum + d.cost_usd, 0);
  const dearest = days.reduce<CostLine | null>(
    (most, d) => (most === null || d.cost_usd > most.cost_usd ? d : most),
    null,
  );
  return (
    <>
      <p className="legend">
        {kinds
          .filter((kind) => days.some((d) => d[`${kind}_usd`] > 0))
          .map((kind) => (
            <span key={kind}>
              <Swatch kind={kind} />
              {words[kind]}
            </span>
          ))}
      </p>
      <div
        className="chart"
        ref={place}
        role="img"
        aria-label={`Cost by day over ${days.length} days: ${cost(total)} in all${dearest === null ? '' : `, most on ${dearest.day}: ${cost(dearest.cost_usd)}`}`}
      />
    </>
  );
};
