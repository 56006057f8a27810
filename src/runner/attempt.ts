/**
 * One attempt, from its claim to its facts. It always returns: what the agent, its workspace or its program does wrong is in
 * the facts, never an exception. The order is the promise: nothing is spawned before the server said go, and from the spawn
 * on every way out goes through `conclude`.
 *
 *   claim → workspace → order → begin(token) → spawn → read, hold → exit → teardown, keep → facts
 */
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { processAdapters } from './adapters/all.ts';
import { conclude, factsOf, type Measured, notMeasured } from './conclude.ts';
import type { Control } from './control.ts';
import { type AttemptEnd, askToBegin, ended } from './gate.ts';
import { holdProcess } from './hold.ts';
import { bootMs, startTimeMs } from './host-clock.ts';
import type { ExitRecord, Held } from './launchers/launcher.ts';
import type { RunnerParts } from './parts.ts';
import { openReading, type Reading } from './reading.ts';
import { runService } from './service.ts';
import { type AttemptState, freshState } from './spool.ts';

export const runAttempt = async (claim: ClaimedWork, control: Control, parts: RunnerParts): Promise<AttemptEnd> => {
  const { spool, launcher, kernel } = parts;
  const facts = factsOf(claim, parts);
  const state: AttemptState = { ...freshState };
  try {
    await spool.create(claim);
    if (claim.agent.adapter === 'http') return await runService(claim, state, control, parts);

    const place = await parts.workspaces.prepare(claim);
    if ('prepare_error' in place) return ended({ ...facts, ...place });
    state.place = place;
    const nothingRan = async (end: AttemptEnd): Promise<AttemptEnd> => {
      // A tree that was made for this attempt goes again.
      await parts.workspaces.keep(claim, place);
      return end;
    };

    const order = await processAdapters[claim.agent.adapter].order(claim, place.path, parts.adapterHost);
    if ('prepare_error' in order) return await nothingRan(ended({ ...facts, ...order }));

    const no = await askToBegin(claim, state, control, parts);
    if (no !== null) return await nothingRan(no);

    const held = await launcher.spawn({
      ...order,
      attempt: claim.attempt,
      dir: spool.dirOf(claim.attempt),
      cwd: place.path,
      memory_bytes: claim.agent.memory_bytes,
      cpu: claim.agent.cpu,
    });
    if ('spawn_error' in held) {
      const end: ExitRecord = { exit_code: null, signal: null, at: kernel.clock.now(), spawn_error: held.spawn_error };
      return await goOnFromEnding(claim, state, end, parts);
    }
    return await goOnHolding(claim, state, held, control, parts);
  } catch (error) {
    if (parts.leaving.aborted) return { kind: 'left' };
    kernel.log.error('an attempt could not be prepared', { attempt: claim.attempt, agent: claim.agent.name, error });
    const { code, message } = error as NodeJS.ErrnoException;
    return ended({ ...facts, prepare_error: { code: code ?? 'runner_fault', message } });
  }
};

/** From a living process to its facts: straight after the spawn, and when a restarted runner has found it again. */
export const goOnHolding = async (
  claim: ClaimedWork,
  state: AttemptState,
  held: Held,
  control: Control,
  parts: RunnerParts,
  secrets: string[] = secretsOf(claim),
): Promise<AttemptEnd> => {
  state.phase = 'spawned';
  state.started_at = held.started_at;
  state.started_boot_ms = startTimeMs(held.proof.start_time);
  state.pid = held.proof.pid;
  state.marked_boot_ms ??= bootMs();
  const holding = holdProcess(claim, held, state, control, parts);
  let reading: Reading | null = null;
  try {
    await parts.spool.writeState(claim.attempt, state).catch((error) =>
      // The launcher's own record is enough to find the process again.
      parts.kernel.log.warn('a state was not written', { attempt: claim.attempt, error }),
    );
    reading = await openReading(claim, secrets, holding, parts);
    const exit = await holding.exited();
    const measured = holding.close();
    if (exit === null) {
      await reading.close();
      return { kind: 'left' };
    }
    return await finish(claim, state, exit, reading, measured, parts);
  } catch (error) {
    // A fault of ours must not leave a process behind that nobody watches.
    parts.kernel.log.error('an attempt could not be followed; it is stopped', { attempt: claim.attempt, error });
    await parts.launcher.stop(held, 'shutdown', 'the runner could not follow it');
    const exit = await held.exited;
    reading ??= await openReading(claim, secrets, { onLine: () => {}, onFull: () => {} }, parts);
    return await finish(claim, state, exit, reading, holding.close(), parts);
  }
};

/** From an ending that nobody held: a spawn error, an exit record found after a restart, or (null) no record at all. */
export const goOnFromEnding = async (
  claim: ClaimedWork,
  state: AttemptState,
  exit: ExitRecord | null,
  parts: RunnerParts,
): Promise<AttemptEnd> => {
  const reading = await openReading(claim, secretsOf(claim), { onLine: () => {}, onFull: () => {} }, parts);
  return await finish(claim, state, exit, reading, notMeasured, parts);
};

const finish = async (
  claim: ClaimedWork,
  state: AttemptState,
  exit: ExitRecord | null,
  reading: Reading,
  measured: Measured,
  parts: RunnerParts,
): Promise<AttemptEnd> => {
  const facts = await conclude(claim, state, exit, reading, measured, parts);
  return ended(facts, () => reading.close());
};

/** Values that must not be shown (R45): what was lent, and the token that fences this attempt. */
const secretsOf = (claim: ClaimedWork): string[] => [...Object.values(claim.credential?.env ?? {}), claim.token];
