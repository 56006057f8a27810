/**
 * What must be true after every step, whatever happened: asked of the rows as they are on disk and of the processes as they
 * really are, in words of its own, so that a wrong count in the product is not counted wrong here as well.
 */

import type { ExecutionStatus } from '../../src/contract/execution.ts';
import { limits } from '../../src/contract/limits.ts';
import { isTerminal } from '../../src/contract/status.ts';
import type { Exit, Proc } from './host.ts';
import { createSharedLooker } from './look-shared.ts';
import { graceS } from './server.ts';
import type { World } from './world.ts';

interface Row {
  id: string;
  agent_name: string;
  status: ExecutionStatus;
  cause: string | null;
  token: string | null;
  attempt: number;
  attempt_id: string | null;
  completed_at: number | null;
  expires_at: number | null;
  cancel_requested_at: number | null;
  depth: number;
  silent: number;
}
interface Attempt {
  id: string;
  execution_id: string;
  number: number;
  token: string;
  begun_at: number | null;
  ended_at: number | null;
  lease_until: number;
  decision: string | null;
  late: number;
  facts: number;
}

export class Broken extends Error {}
const must = (ok: boolean, what: string): void => {
  if (!ok) throw new Broken(what);
};

export interface Looker {
  /** A process is about to start. */
  spawned(proc: Proc): void;
  /** An answer to a call leaves the server. */
  answered(proc: Proc): void;
  look(): void;
  rows(): Row[];
  attempts(): Attempt[];
}

/** The endings of a history that pass by themselves, or with another login. */
const passes: ReadonlySet<Exit> = new Set(['unreachable', 'overloaded', 'limit', 'rejected']);

export const createLooker = (w: () => World): Looker => {
  const endings = new Map<string, string>();
  const rows = () =>
    w().disk.rows<Row>(
      'select id, agent_name, status, cause, token, attempt, attempt_id, completed_at, expires_at, cancel_requested_at, depth, silent from executions order by id',
    );
  const attempts = () =>
    w().disk.rows<Attempt>(
      `select id, execution_id, number, token, begun_at, ended_at, lease_until, decision, late,
        (select count(*) from attempt_facts f where f.attempt_id = attempts.id) as facts from attempts order by execution_id, number`,
    );
  const rowOf = (proc: Proc) => rows().find((r) => r.id === proc.claim.execution_id);
  const procs = () => w().hosts.flatMap((h) => h.procs);
  /** Given up as lost after the grace, while it lives on where nobody reaches it; or refused because it is being stopped. */
  const writtenOff = (p: Proc, all: Row[]) => {
    const row = all.find((r) => r.id === p.claim.execution_id);
    if (row?.cause === 'runner_lost' || (row?.cause === 'cancelled' && row.token === null)) return true;
    return p.refused && row?.cancel_requested_at !== null;
  };

  const workingOf = (all: Row[]) => procs().filter((p) => p.alive && !p.blocked && !writtenOff(p, all));

  const capsHold = (all: Row[]) => {
    const working = workingOf(all);
    const over = working.filter((p) => p.gaveUp).length;
    const { agents, fleet } = w().caps;
    must(working.length <= fleet + over, `${working.length} processes work, the fleet's cap is ${fleet}`);
    for (const [name, cap] of agents) {
      const own = working.filter((p) => p.claim.agent.name === name).length;
      must(own <= cap + over, `${own} processes of ${name} work, its cap is ${cap}`);
    }
    const running = all.filter((r) => r.status === 'running');
    // One that gave a call up: its row runs at once, and until its next call or its ending arrives.
    const mayBeOver = running.filter((r) => procs().some((p) => p.gaveUp && p.claim.token === r.token)).length;
    must(running.length <= fleet + mayBeOver, `${running.length} rows run, the fleet's cap is ${fleet}`);
  };

  const endOnce = (all: Row[]) => {
    for (const r of all) {
      const ending = isTerminal(r.status) ? `${r.status} ${r.cause} ${r.completed_at}` : null;
      const before = endings.get(r.id);
      if (before !== undefined) must(ending === before, `${r.id} ended as ${before}, and is now ${ending ?? r.status}`);
      else if (ending !== null) endings.set(r.id, ending);
    }
    for (const id of endings.keys())
      must(
        all.some((r) => r.id === id),
        `${id} ended and is gone`,
      );
  };

  const agree = (all: Row[], made: Attempt[]) => {
    for (const r of all) {
      const live = r.status === 'running' || r.status === 'waiting';
      const own = made.filter((a) => a.execution_id === r.id);
      must(own.length === r.attempt, `${r.id} has ${own.length} attempts and counts ${r.attempt}`);
      const open = own.filter((a) => a.ended_at === null);
      must(open.length === (live ? 1 : 0), `${r.id} is ${r.status} with ${open.length} open attempts`);
      if (live)
        must(open[0]!.token === r.token && open[0]!.id === r.attempt_id, `${r.id} runs with another attempt's token`);
      const counted = own.filter((a) => a.facts === 1 && a.late === 0);
      must(counted.length <= own.length, `${r.id} counts more outcomes than attempts`);
    }
  };

  /** Who has ended, or is queued again, waits for nobody: what it waited for is cancelled with it. */
  const nobodyWaits = () => {
    const left = w().disk.rows<{ child_id: string }>(
      `select child_id from calls c where closed_at is null and not exists
        (select 1 from executions e where e.id = c.execution_id and e.token = c.token)`,
    );
    must(left.length === 0, `${left[0]?.child_id} works for a caller that is gone`);
  };

  /** Nobody is given up who may live: only a proven death or the grace ends a run, and a starting server waits a lease. */
  const patient = (all: Row[], made: Attempt[]) => {
    const now = w().time.steady();
    const startedAt = w().server()?.startedAt;
    for (const r of all) {
      if (r.silent === 1 && !silent.has(r.id) && startedAt !== undefined)
        must(now >= startedAt + limits.leaseMs, `${r.id} was silent ${now - startedAt} ms after the server's start`);
      if (r.silent === 1) silent.add(r.id);
      else silent.delete(r.id);
      if (r.cause !== 'runner_lost' || lost.has(r.id)) continue;
      lost.add(r.id);
      const last = made.filter((a) => a.execution_id === r.id).at(-1);
      const proc = procs().find((p) => p.claim.attempt === last?.id);
      const dead = last?.facts === 1 || proc?.alive === false;
      must(dead || last!.lease_until + graceS * 1000 <= now, `${r.id} is called lost, and its process may live`);
    }
  };
  const silent = new Set<string>();
  const lost = new Set<string>();

  const told = (all: Row[]) => {
    for (const a of w().callers.asked) {
      must(a.told.size <= 1, `${a.key} became ${[...a.told].join(' and ')}`);
      for (const id of a.told)
        must(
          all.some((r) => r.id === id),
          `${id} was accepted and is gone`,
        );
    }
  };

  const inTime = (all: Row[], made: Attempt[]) => {
    const { time, disk } = w();
    const server = w().server();
    // Each sweep runs at least every five seconds, after a lease of quiet at the start.
    if (server === null || disk.mood !== 'quick' || lastPass < 6_000) return;
    const now = time.steady();
    for (const r of all)
      if (r.status === 'queued' && r.expires_at !== null)
        must(r.expires_at > now - lastPass - 1_000, `${r.id} waits ${now - r.expires_at} ms longer than its budget`);
    for (const a of made)
      if (a.ended_at === null)
        must(
          a.lease_until + graceS * 1000 > now - lastPass - 6_000,
          `${a.execution_id} is held by nobody for ${now - a.lease_until} ms`,
        );
  };
  let lastPass = 0;
  let before = 0;
  const shared = createSharedLooker(w, must);

  return {
    rows,
    attempts,
    spawned(proc) {
      const all = rows();
      const id = proc.claim.execution_id;
      const others = procs().filter((p) => p !== proc && p.claim.execution_id === id);
      for (const p of others) {
        must(!p.alive, `${id} has two processes`);
        const known = attempts().find((a) => a.id === p.claim.attempt);
        const passing = p.held && p.exit !== null && passes.has(p.exit.how);
        const again = passing && /"kind":"(retry|park|switch)"/.test(known?.decision ?? '');
        must(again, `${id} was started again after a process whose ending is not tried again`);
      }
      must(!endings.has(id), `${id} has ended as ${endings.get(id)} and is started`);
      capsHold(all);
    },
    answered(proc) {
      const row = rowOf(proc);
      must(row?.status === 'running', `${proc.claim.execution_id} was handed an answer while it is ${row?.status}`);
    },
    look() {
      const all = rows();
      const made = attempts();
      lastPass = w().time.steady() - before;
      before = w().time.steady();
      capsHold(all);
      endOnce(all);
      agree(all, made);
      nobodyWaits();
      patient(all, made);
      told(all);
      inTime(all, made);
      shared.look(workingOf(all));
      must(w().errors.length === 0, `said as an error: ${w().errors.join('; ')}`);
      must(w().disk.odd.length === 0, `could not be healed: ${w().disk.odd.join('; ')}`);
    },
  };
};
