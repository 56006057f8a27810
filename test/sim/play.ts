/**
 * Plays a history and looks after each step; then everything that is broken is mended, and what was accepted must come to its
 * end. A failing history shrinks: steps are dropped as long as it still fails.
 */
import { isTerminal } from '../../src/contract/status.ts';
import type { Disk } from './disk.ts';
import type { Proc } from './host.ts';
import { Broken, createLooker, type Looker } from './look.ts';
import type { History } from './steps.ts';
import { createWorld, type World } from './world.ts';

export interface Failure {
  history: History;
  /** The step after which it was seen; null = at the end. */
  step: number | null;
  what: string;
}

interface Played {
  failure: Failure | null;
  /** What happened, so that a history that does nothing is noticed. */
  count: { executions: number; processes: number; events: number };
}

export const play = async (history: History, disk: Disk): Promise<Played> => {
  // Seen inside a callback: told at the next look.
  let within: unknown = null;
  const catching = (run: () => void) => {
    try {
      run();
    } catch (error) {
      within ??= error;
    }
  };
  let world: World;
  const looker: Looker = createLooker(() => world);
  let step: number | null = null;
  const count = () => ({
    executions: looker.rows().length,
    processes: world.hosts.reduce((n, h) => n + h.procs.length, 0),
    events: world.seen.length,
  });
  try {
    world = await createWorld(history, disk, {
      spawn: (proc: Proc) => catching(() => looker.spawned(proc)),
      answer: (proc: Proc) => catching(() => looker.answered(proc)),
    });
    const look = () => {
      if (within !== null) throw within;
      looker.look();
    };
    for (const [i, s] of history.steps.entries()) {
      step = i;
      await world.act(s);
      look();
    }
    step = null;
    await drain(world, looker, look);
    await atTheEnd(world, looker);
    return { failure: null, count: count() };
  } catch (error) {
    if (!(error instanceof Broken)) (error as Error).message += ` (seed ${history.seed}, step ${step})`;
    const what = error instanceof Broken ? error.message : String((error as Error).stack);
    return { failure: { history, step, what }, count: count() };
  }
};

/** Rounds of everything that moves; what needs more is stuck. */
const mostRounds = 400;

const drain = async (w: World, looker: Looker, look: () => void): Promise<void> => {
  const act = async (s: Parameters<World['act']>[0]) => {
    await w.act(s);
    look();
  };
  await act({ do: 'good disk' });
  await act({ do: 'start server' });
  for (const host of [0, 1]) {
    await act({ do: 'join', host });
    await act({ do: 'start runner', host });
  }
  await act({ do: 'pause', on: false });
  await act({ do: 'pause provider', on: false });
  for (let round = 0; round < mostRounds; round++) {
    for (let n = 0; n < 200 && w.net.moving() > 0; n++) await act({ do: 'deliver', which: 0, times: 5 });
    for (const host of [0, 1]) {
      await act({ do: 'poll', host });
      await act({ do: 'renew', host });
    }
    for (let n = 0; n < 200 && w.net.moving() > 0; n++) await act({ do: 'deliver', which: 0, times: 5 });
    if (looker.rows().every((r) => isTerminal(r.status)) && w.net.moving() === 0) {
      const owed = w.hosts.flatMap((h) => [...h.spool.values()].filter((s) => s.delivered === null));
      if (owed.length === 0 && w.callers.asked.every((a) => a.answered)) return;
    }
    // Bad weather lasts a while longer, so that probes meet it.
    if (round === 8) await act({ do: 'weather', bad: false });
    await act({ do: 'exit', who: 0, how: 'good' });
    await asAPerson(w);
    // Nobody is held for as long as a reset or a probe is away: nothing else happens meanwhile.
    await act({ do: 'pass', ms: w.badWeather ? 15_000 : round < 100 ? 4_000 : 30_000 });
  }
  const left = looker.rows().filter((r) => !isTerminal(r.status));
  const waits = left.map((r) => `${r.id} of ${r.agent_name} is ${r.status}`);
  const owed = w.hosts.flatMap((h) =>
    [...h.spool.values()].filter((s) => s.delivered === null).map((s) => s.claim.attempt),
  );
  throw new Broken(
    `stuck: ${waits.join(', ')}; not delivered: ${owed.join(', ')}; not answered: ${w.callers.asked
      .filter((a) => !a.answered)
      .map((a) => a.key)
      .join(', ')}`,
  );
};

/** What waits for a person by design: an agent that was stopped, by whom it may be, and a login that needs a new secret. */
const asAPerson = async (w: World): Promise<void> => {
  for (const { name } of w.disk.rows<{ name: string }>("select name from agents where desired_state = 'stopped'"))
    await w.act({ do: 'stop agent', agent: name.charCodeAt(0) - 97, on: false });
  for (const { id } of w.disk.rows<{ id: string }>("select id from credentials where state = 'rejected'"))
    await w.act({ do: 'new secret', which: Number(id.slice(-1)) });
};

const atTheEnd = async (w: World, looker: Looker): Promise<void> => {
  const must = (ok: boolean, what: string) => {
    if (!ok) throw new Broken(what);
  };
  const rows = looker.rows();
  const made = looker.attempts();
  for (const a of w.callers.asked)
    must(a.told.size === 1 || a.refused !== null, `${a.key} was neither accepted nor refused`);
  for (const host of w.hosts)
    for (const p of host.procs) {
      const attempt = made.find((a) => a.id === p.claim.attempt);
      const row = rows.find((r) => r.id === p.claim.execution_id)!;
      must(attempt?.facts === 1, `the outcome of attempt ${p.claim.attempt} was lost`);
      if (attempt!.late === 1 || attempt!.number !== row.attempt) continue;
      const ended = p.held && p.stop === null ? p.exit!.how : null;
      if (ended === 'good')
        must(row.status === 'success', `${row.id} ended well and is called ${row.status} ${row.cause}`);
      if (ended !== null && ended !== 'good')
        must(row.status !== 'success', `${row.id} ended as ${ended} and is called a success`);
      if (!p.held) must(row.status !== 'success', `nobody saw ${row.id} end, and it is called a success`);
    }
  for (const r of rows) {
    const last = made.filter((a) => a.execution_id === r.id).at(-1);
    if (r.status === 'success')
      must(last?.facts === 1 && last.late === 0, `${r.id} is called a success without an outcome`);
    if (r.status === 'cancelled')
      must(r.depth > 0 || w.callers.cancels.has(r.id), `${r.id} is called cancelled, and nobody asked for it`);
  }
  const events = w.disk.rows<{ id: number }>('select id from events order by id').map((e) => e.id);
  must(w.resets === 0, 'a watcher was told to start over');
  must(
    events.every((id, i) => i === 0 || id === events[i - 1]! + 1),
    'the ids of the events have a gap',
  );
  must(
    w.seen.length === events.length && w.seen.every((e, i) => e.id === events[i]),
    `a watcher saw ${w.seen.length} of ${events.length} events`,
  );
  for (const r of rows) {
    const own = w.seen.filter((e) => e.execution_id === r.id);
    must(own[0]?.type === 'execution.queued', `the first event of ${r.id} is ${own[0]?.type}`);
    const ends = own.filter((e) => e.type === 'execution.settled');
    must(ends.length === 1, `${r.id} has ${ends.length} events of its ending: ${own.map((e) => e.type).join(' ')}`);
  }
  const { deps } = w.server()!;
  for (const found of await deps.store.read('invariants', { limits: deps.claimLimits() }))
    must(found.ok, `${found.name}: ${found.found}`);
};

/** Drops steps, halves first, as long as it still fails. */
export const shrink = async (failure: Failure, disk: Disk): Promise<Failure> => {
  let best = failure;
  for (let size = Math.ceil(best.history.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.history.steps.length; ) {
      const { steps } = best.history;
      const tried = await play(
        { ...best.history, steps: [...steps.slice(0, from), ...steps.slice(from + size)] },
        disk,
      );
      if (tried.failure) best = tried.failure;
      else from += size;
    }
  return best;
};
