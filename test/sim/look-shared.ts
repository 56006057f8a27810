/**
 * What must be true of what runs share besides the caps of agent and fleet: a chat session, a login, a provider's weather, and
 * the clock their leases go by. Asked after every step of the rows as they are on disk and of the processes as they really are.
 */
import { limits } from '../../src/contract/limits.ts';
import type { Proc } from './host.ts';
import { loginId } from './logins.ts';
import type { World } from './world.ts';

type Must = (ok: boolean, what: string) => void;

interface Held {
  id: string;
  status: string;
  session_id: string | null;
  credential_id: string | null;
  token: string | null;
}
interface OpenIncident {
  id: string;
  provider: string;
  state: string;
}

interface SharedLooker {
  /** `working`: processes that really work; `over`: of them, those that rightly may be over a cap. */
  look(working: readonly Proc[]): void;
}

export const createSharedLooker = (w: () => World, must: Must): SharedLooker => {
  const rowsOf = <R>(sql: string) => w().disk.rows<R>(sql);

  const oneTurnEach = (held: Held[], living: readonly Proc[]) => {
    const sessionOf = new Map(held.map((r) => [r.id, r.session_id]));
    const turns = new Map<string, string>();
    for (const r of held) {
      if (r.session_id === null) continue;
      must(!turns.has(r.session_id), `session ${r.session_id} is held by ${turns.get(r.session_id)} and ${r.id}`);
      turns.set(r.session_id, r.id);
    }
    const speaking = new Map<string, string>();
    for (const p of living) {
      const session = sessionOf.get(p.claim.execution_id);
      if (session === undefined || session === null) continue;
      must(!speaking.has(session), `two processes live in session ${session}`);
      speaking.set(session, p.claim.execution_id);
    }
  };

  const loginsHold = (held: Held[], working: readonly Proc[]) => {
    for (const [n, most] of w().history.logins.entries()) {
      if (most === null) continue;
      const own = working.filter((p) => p.claim.credential?.id === loginId(n));
      const over = own.filter((p) => p.gaveUp).length;
      must(own.length <= most + over, `${own.length} processes use ${loginId(n)}, which bears ${most}`);
      const running = held.filter((r) => r.status === 'running' && r.credential_id === loginId(n));
      const mayBeOver = running.filter((r) => own.some((p) => p.gaveUp && p.claim.token === r.token)).length;
      must(running.length <= most + mayBeOver, `${running.length} rows run on ${loginId(n)}, which bears ${most}`);
    }
  };

  const oneSwitch = () => {
    const many = rowsOf<{ execution_id: string; n: number }>(
      `select execution_id, count(*) as n from attempts where decision like '%"kind":"switch"%' group by execution_id having n > 1`,
    );
    must(many.length === 0, `${many[0]?.execution_id} was moved to another login ${many[0]?.n} times`);
  };

  let stormy = new Map<string, number>();
  let claimed = new Set<string>();
  /** Of agents that go to the provider. */
  const weatherHolds = () => {
    const open = rowsOf<OpenIncident>('select id, provider, state from incidents where closed_at is null');
    const providers = new Set(open.map((i) => i.provider));
    must(providers.size === open.length, `${open.length} incidents are open for ${[...providers].join(', ')}`);
    const made = rowsOf<{ id: string; probe_of: string | null; ended_at: number | null; outcome: string | null }>(
      `select t.id, t.ended_at, p.incident_id as probe_of, p.outcome from attempts t
        join executions e on e.id = t.execution_id join agents a on a.id = e.agent_id
        left join incident_probes p on p.attempt_id = t.id where a.adapter = 'claude'`,
    );
    const eased = w().seen.filter((e) => e.type === 'incident.reopening').length;
    for (const i of open) {
      const probes = made.filter((a) => a.probe_of === i.id && a.outcome === null && a.ended_at === null);
      must(probes.length <= 1, `${probes.length} probes of incident ${i.id} are under way`);
      // Open before the step and after it, and never eased in between: all that was claimed in it is a probe.
      if (i.state !== 'open' || stormy.get(i.id) !== eased) continue;
      for (const a of made)
        must(claimed.has(a.id) || a.probe_of === i.id, `${a.id} was started into incident ${i.id} and is no probe`);
    }
    stormy = new Map(open.filter((i) => i.state === 'open').map((i) => [i.id, eased]));
    claimed = new Set(made.map((a) => a.id));
  };

  /** By the clock that never jumps: no lease is longer than its term, and none that was renewed is over before it. */
  const leasesHold = (procs: readonly Proc[]) => {
    const now = w().time.steady();
    for (const a of rowsOf<{ id: string; execution_id: string; lease_until: number; silent_at: number | null }>(
      'select id, execution_id, lease_until, silent_at from attempts where ended_at is null',
    )) {
      must(
        a.lease_until <= now + limits.leaseMs,
        `the lease of ${a.execution_id} ends ${a.lease_until - now} ms from now`,
      );
      const renewedAt = procs.find((p) => p.claim.attempt === a.id)?.renewedAt ?? null;
      if (a.silent_at !== null && renewedAt !== null)
        must(
          now >= renewedAt + limits.leaseMs,
          `${a.execution_id} is silent ${now - renewedAt} ms after it was renewed`,
        );
    }
  };

  return {
    look(working) {
      const held = rowsOf<Held>(
        `select id, status, session_id, credential_id, token from executions where status in ('running', 'waiting')`,
      );
      const procs = w().hosts.flatMap((h) => h.procs);
      oneTurnEach(
        held,
        procs.filter((p) => p.alive && held.some((r) => r.token === p.claim.token)),
      );
      loginsHold(held, working);
      if (w().history.logins.length > 1) oneSwitch();
      if (w().history.clis.includes(true)) weatherHolds();
      leasesHold(procs);
    },
  };
};
