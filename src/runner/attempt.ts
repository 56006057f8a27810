/**
 * One attempt, from its claim to its facts. It always returns: what the agent, its workspace or its program does wrong is in
 * the facts, never an exception. The order is the promise: nothing is spawned before the server said go, and from the spawn
 * on every way out goes through `conclude`.
 *
 *   claim → workspace → order → begin(token) → spawn → read, hold → exit → teardown, keep → facts
 *
 * A restarted runner (recover.ts) comes in at `followProcess` or `concludeEnded`.
 */
import { processAdapters } from './adapters/all.ts';
import { callEnv } from './adapters/call-line.ts';
import { openCallLines } from './calls/call-lines.ts';
import { conclude, type Measured, notMeasured } from './conclude.ts';
import { askToBegin } from './gate.ts';
import { holdProcess } from './hold.ts';
import { bootMs, startTimeMs } from './host-clock.ts';
import type { ExitRecord, Held } from './launchers/launcher.ts';
import { openReading, type Reading, unheard } from './reading.ts';
import { type AttemptEnd, ended, endedEarly, type Run } from './run.ts';
import { runService } from './service.ts';

export const runAttempt = async (run: Run): Promise<AttemptEnd> => {
  const { claim, state, parts } = run;
  try {
    await parts.spool.create(claim);
    if (claim.agent.adapter === 'http') return await runService(run);

    const place = await parts.workspaces.prepare(claim);
    if ('prepare_error' in place) return endedEarly(run, place);
    state.place = place;
    const nothingRan = async (end: AttemptEnd): Promise<AttemptEnd> => {
      // A tree that was made for this attempt goes again.
      await parts.workspaces.keep(claim, place);
      return end;
    };

    const order = await processAdapters[claim.agent.adapter].order(claim, place.path, parts.adapterHost);
    if ('prepare_error' in order) return await nothingRan(endedEarly(run, order));

    const no = await askToBegin(run);
    if (no !== null) return await nothingRan(no);

    const held = await parts.launcher.spawn({
      ...order,
      env: { ...order.env, ...callEnv(claim, parts.adapterHost) },
      attempt: claim.attempt,
      dir: parts.spool.dirOf(claim.attempt),
      cwd: place.path,
      memory_bytes: claim.agent.memory_bytes,
      cpu: claim.agent.cpu,
    });
    if ('proof' in held) return await followProcess(run, held);
    const { spawn_error } = held;
    return await concludeEnded(run, { exit_code: null, signal: null, at: parts.kernel.clock.now(), spawn_error });
  } catch (error) {
    if (parts.leaving.aborted) return { kind: 'left' };
    parts.kernel.log.error('an attempt could not be run', { attempt: claim.attempt, agent: claim.agent.name, error });
    const { code, message } = error as NodeJS.ErrnoException;
    return endedEarly(run, { prepare_error: { code: code ?? 'runner_fault', message } });
  }
};

/** From a living process to its facts: straight after the spawn, and when a restarted runner has found it again. */
export const followProcess = async (run: Run, held: Held): Promise<AttemptEnd> => {
  const { claim, state, parts } = run;
  state.phase = 'spawned';
  state.started_at = held.started_at;
  state.started_boot_ms = startTimeMs(held.proof.start_time);
  state.pid = held.proof.pid;
  state.marked_boot_ms ??= bootMs();
  const holding = holdProcess(run, held);
  let reading: Reading | null = null;
  try {
    await parts.spool.writeState(claim.attempt, state).catch((error) =>
      // The launcher's own record is enough to find the process again.
      parts.kernel.log.warn('a state was not written', { attempt: claim.attempt, error }),
    );
    reading = await openReading(run, holding);
    const calls = await openCallLines(run);
    const exit = await holding.exited();
    const measured = holding.close();
    if (exit !== null) {
      await calls.over();
      return await toFacts(run, exit, reading, measured);
    }
    await calls.close();
    await reading.close();
    return { kind: 'left' };
  } catch (error) {
    // A fault of ours must not leave a process behind that nobody watches.
    parts.kernel.log.error('an attempt could not be followed; it is stopped', { attempt: claim.attempt, error });
    await parts.launcher.stop(held, 'shutdown', 'the runner could not follow it');
    const exit = await held.exited;
    reading ??= await openReading(run, unheard);
    return await toFacts(run, exit, reading, holding.close());
  }
};

/** From an ending that nobody held: a spawn error, an exit record found after a restart, or (null) no record at all. */
export const concludeEnded = async (run: Run, exit: ExitRecord | null): Promise<AttemptEnd> =>
  toFacts(run, exit, await openReading(run, unheard), notMeasured);

const toFacts = async (run: Run, exit: ExitRecord | null, reading: Reading, measured: Measured): Promise<AttemptEnd> =>
  ended(await conclude(run, exit, reading, measured), () => reading.close());
