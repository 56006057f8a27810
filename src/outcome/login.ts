/**
 * What a failure says about the login of its attempt: whose fault it is, and what follows. Pure. A credential is blamed only by a
 * cause that may switch, with proof that the model API spoke (R36). The same rejection on two credentials of one agent is not two
 * bad credentials: it is the agent, when others succeed on them, else an incident (R39); the pool is not walked.
 */
import type { Cause } from '../contract/causes.ts';
import { planKinds } from '../contract/credential.ts';
import { faultOf, lateResetMs } from '../contract/credential-states.ts';
import type { LoginOption, LoginView } from '../contract/login-view.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';

export type Blame = 'nobody' | 'credential' | 'agent' | 'incident';

/** Parked this often, an execution ends: resets that never come true are no resets. */
const parksMost = 10;

const rejections: readonly Cause[] = ['auth_failed', 'access_denied'];

export const blameOf = (verdict: Verdict, view: LoginView | null): Blame => {
  if (view === null || verdict.switch_credential !== true || faultOf[verdict.cause] === undefined) return 'nobody';
  // The user's own login is never switched; the CLI that took another login than it was lent says nothing of the lent one.
  if (view.mine.kind === 'host_login' || verdict.attention.includes('login_differs')) return 'nobody';
  if (!rejections.includes(verdict.cause)) return 'credential';
  if (view.alike.length > 0) return view.works_for_others ? 'agent' : 'incident';
  return view.alike_in_fleet.length > 0 ? 'incident' : 'credential';
};

const named = (all: readonly LoginOption[]): string => all.map((o) => o.name).join(', ');
const iso = (ms: number): string => new Date(ms).toISOString();

/** Null = nothing about the login decides what follows. */
export const loginDecision = (
  verdict: Verdict,
  view: LoginView,
  { now, decided }: { now: number; decided: readonly Decision[] },
): Decision | null => {
  const blame = blameOf(verdict, view);
  if (blame === 'nobody') return null;
  const ended = (why: string): Decision => ({ kind: 'end', status: 'failed', why });
  const { mine } = view;
  if (blame === 'agent')
    return ended(
      `${verdict.cause} on ${named([...view.alike, mine])}, on which other agents succeed: the agent is at fault and was stopped`,
    );
  if (blame === 'incident')
    return ended(
      `${verdict.cause} on ${named([...view.alike, ...view.alike_in_fleet, mine])} within a short time: more than one login is affected, none is tried further`,
    );
  const switched = decided.some((d) => d.kind === 'switch');
  const to = view.moved_to ?? view.others[0] ?? null;
  if (to !== null && !switched && mayMove(view, to))
    return {
      kind: 'switch',
      from: mine.id,
      to: to.id,
      why: `${verdict.cause} on ${mine.name}, goes on with ${to.name}`,
    };
  const parks = decided.filter((d) => d.kind === 'park' && d.for !== undefined).length;
  if (parks >= parksMost) return ended(`${verdict.cause} on ${mine.name}, after ${parks} waits for a reset`);
  return waitFor(verdict, view, to !== null, now) ?? ended(whyNot(verdict.cause, view, { to, switched }));
};

/** From a plan to another plan only where the setting lets it: automatic switching between subscriptions (R41). */
const mayMove = ({ mine, auto_switch }: LoginView, to: LoginOption): boolean =>
  auto_switch || !planKinds.includes(mine.kind) || !planKinds.includes(to.kind);

/** `otherGood`: another one is good, but this execution may not move to it. */
const waitFor = (verdict: Verdict, view: LoginView, otherGood: boolean, now: number): Decision | null => {
  const { mine } = view;
  // A used-up plan comes back by itself, and so may a login that this run only probed.
  const own = verdict.cause === 'usage_limit' || mine.probed ? mine.until : null;
  const resets = [own, otherGood ? null : view.others_reset].filter((r) => r !== null);
  if (resets.length === 0) return null;
  const until = Math.max(Math.min(...resets), now + lateResetMs);
  return otherGood
    ? {
        kind: 'park',
        until,
        for: 'time',
        why: `${mine.name} is used up until ${iso(until)}, and it does not move on from it`,
      }
    : { kind: 'park', until, for: 'login', why: `Every credential it may use is used up. Reset: ${iso(until)}.` };
};

const whyNot = (
  cause: Cause,
  view: LoginView,
  { to, switched }: { to: LoginOption | null; switched: boolean },
): string => {
  const on = `${cause} on ${view.mine.name}`;
  if (to === null) return `${on}, and there is no other good credential for it`;
  if (switched) return `${on}, after one switch already`;
  return `${on}; switching between subscriptions is off, so ${to.name} was not used`;
};
