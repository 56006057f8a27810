/**
 * After the exit, in an order that matters: end what is left of the tree (so that nothing writes on), read the streams to
 * their end, read the recorded stop, keep the work, and put down the facts. Each step may fail alone; none takes the facts
 * with it. Nothing here decides what anything means.
 */
import type { Facts } from '../contract/facts.ts';
import { completeStream } from './adapters/all.ts';
import type { ExitRecord } from './launchers/launcher.ts';
import type { Reading } from './reading.ts';
import { factsOf, type Run } from './run.ts';
import { nothingKept } from './workspace/keep.ts';

export interface Measured {
  run_ms: number | null;
  waiting_ms: number | null;
}
export const notMeasured: Measured = { run_ms: null, waiting_ms: null };

/** An agent may have written down what it was lent. */
const hidden = (
  { hide }: Run,
  { diff }: NonNullable<Facts['workspace']>,
): Pick<NonNullable<Facts['workspace']>, 'diff'> => (diff == null ? {} : { diff: { ...diff, text: hide(diff.text) } });

/** `exit` null = the process is proven dead and left no record. */
export const conclude = async (
  run: Run,
  exit: ExitRecord | null,
  reading: Reading,
  measured: Measured,
): Promise<Facts> => {
  const { claim, state } = run;
  const { kernel, launcher, spool, workspaces } = run.parts;
  const dir = spool.dirOf(claim.attempt);
  const alone = async <T>(what: string, step: () => Promise<T>, otherwise: (error: unknown) => T): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      kernel.log.error(`${what} failed`, { attempt: claim.attempt, error });
      return otherwise(error);
    }
  };
  const { place } = state;

  const torn = await alone<{ memory: Facts['memory']; stragglers: number | null }>(
    'ending what was left of a process tree',
    () => launcher.tearDown(claim.attempt, dir),
    () => ({ memory: null, stragglers: null }),
  );
  await alone(
    'reading the end of the output',
    () => reading.tail.finish(),
    () => undefined,
  );
  const stop = await alone(
    'reading the stop record',
    () => launcher.stopped(dir),
    () => null,
  );
  if (stop !== null)
    await alone(
      'noting the stop',
      () => reading.tail.note(`Drover stopped it: ${stop.reason}${stop.detail === null ? '' : ` (${stop.detail})`}.`),
      () => undefined,
    );
  const workspace = place
    ? await alone(
        'keeping the work',
        () => workspaces.keep(claim, place),
        (error) => ({ ...nothingKept, ...place, keep_error: (error as Error).message }),
      )
    : null;
  const told = await reading.evidence();
  const stream = await alone(
    'reading what the CLI wrote down itself',
    () => completeStream(claim, told, state.started_at, run.parts.adapterHost),
    () => told,
  );
  return {
    ...factsOf(run),
    spawn_error: exit?.spawn_error ?? null,
    exit_code: exit?.exit_code ?? null,
    signal: exit?.signal ?? null,
    stop,
    memory: torn.memory,
    stream,
    spawned_at: state.started_at,
    ended_at: exit?.at ?? null,
    run_ms: measured.run_ms,
    waiting_ms: measured.waiting_ms,
    runner_restarts: state.restarts,
    pid: state.pid,
    workspace: workspace && { ...workspace, ...hidden(run, workspace) },
    stragglers: torn.stragglers,
  };
};
