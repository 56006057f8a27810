/** How times and amounts are written for people. Pure; null is `–`, for what was not measured. */
import { inDollars } from '../../contract/dollars.ts';

const unit = (n: number, digits: number): string => n.toFixed(digits).replace(/\.0+$/, '');

export const duration = (ms: number | null | undefined): string => {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${unit(ms / 1000, 1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const m = Math.round(s / 60);
  if (m < 1440) return `${Math.floor(m / 60)} h ${m % 60} min`;
  return `${Math.floor(m / 1440)} d ${Math.floor((m % 1440) / 60)} h`;
};

/** Since an ISO time; `–` when there is none. A clock that is behind shows 0, never a negative age. */
export const age = (iso: string | null | undefined, now: number): string => {
  const at = iso ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(at) ? '–' : duration(Math.max(0, now - at));
};

export const dollars = (usd: number | null | undefined): string =>
  usd === null || usd === undefined ? '–' : inDollars(usd);

export const bytes = (n: number | null | undefined): string => {
  if (n === null || n === undefined) return '–';
  const steps = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  let rest = n;
  for (; rest >= 1024 && i < steps.length - 1; i++) rest /= 1024;
  return `${unit(rest, rest < 10 && i > 0 ? 1 : 0)} ${steps[i]}`;
};
