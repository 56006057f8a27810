/** The morning report in sentences, for the command line and for chats. Says nothing that the numbers do not. Pure. */
import { inSentence } from '../contract/causes.ts';
import { costUntold, inDollars } from '../contract/dollars.ts';
import type { MorningReport } from '../contract/morning.ts';

const many = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`;
const time = (iso: string, timezone: string): string =>
  new Date(iso).toLocaleTimeString('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });

export const morningText = (r: Omit<MorningReport, 'text'>): string => {
  const { happened: h, saved: s, cost: c } = r;
  const failed = h.by_cause.map((b) => `${b.count} × ${inSentence(b.title)}`).join(', ');
  const lines = [
    `The night to ${r.day}, since ${time(r.from, r.timezone)} (${r.timezone})`,
    '',
    'What happened',
    h.ended === 0
      ? '  Nothing ended.'
      : `  ${many(h.good, 'run')} of ${h.ended} ended well, ${h.failed} failed${h.cancelled > 0 ? `, ${h.cancelled} cancelled` : ''}.`,
    ...(failed === '' ? [] : [`  ${failed}.`]),
    ...h.incidents.map(
      (i) =>
        `  ${i.provider} was in trouble from ${time(i.opened_at, r.timezone)} ${i.closed_at === null ? 'and still is' : `to ${time(i.closed_at, r.timezone)}`}: ${many(i.failures, 'run')} of ${many(i.agents.length, 'agent')} failed.`,
    ),
    ...(h.running + h.queued > 0 ? [`  Now ${h.running} running, ${h.queued} waiting.`] : []),
    '',
    'What was saved',
    ...savedLines(s),
    '',
    'What needs you',
    ...(r.needs_you.length === 0
      ? ['  Nothing.']
      : r.needs_you.map(
          (i) => `  ${i.severity === 'high' ? '!' : '·'} ${i.title}${i.count > 1 ? ` (${i.count} times)` : ''}`,
        )),
    '',
    'What it cost',
    ...(costUntold(c)
      ? []
      : [
          `  ${inDollars(c.total_usd)}: ${inDollars(c.billed_usd)} billed, ${inDollars(c.notional_usd)} at list price on subscriptions, ${inDollars(c.unknown_usd)} not known which.`,
        ]),
    ...(c.wasted_usd > 0 ? [`  ${inDollars(c.wasted_usd)} of what ended led to nothing.`] : []),
    ...(c.estimated_usd > 0 ? [`  ${inDollars(c.estimated_usd)} is estimated, of runs that were killed.`] : []),
    ...(c.unpriced_runs > 0 ? [`  Of ${many(c.unpriced_runs, 'run')} no cost is known.`] : []),
  ];
  return lines.join('\n');
};

const savedLines = (s: MorningReport['saved']): string[] => {
  const lines = [
    ...(s.retried > 0
      ? [
          `  ${many(s.retried, 'run')} ended well after a try that had failed, ${s.resumed} of them in the same session.`,
        ]
      : []),
    ...(s.switched > 0 ? [`  ${many(s.switched, 'run')} ended well on another login.`] : []),
    ...(s.parked > 0
      ? [`  ${many(s.parked, 'time')} work waited for a reset or better weather instead of failing.`]
      : []),
  ];
  return lines.length === 0 ? ['  Nothing had to be.'] : lines;
};
