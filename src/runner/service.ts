/**
 * One attempt with an agent behind HTTP, to its facts: begin, send once, wait for the result by id, stop when told. There is
 * no process of ours and nothing to tear down. Not reached before acceptance = `http.accepted` false, so that the row goes
 * back to the queue and passes the claim gate again (R15); after acceptance nothing is sent a second time.
 */
import { appendFile, stat } from 'node:fs/promises';
import type { Facts } from '../contract/facts.ts';
import type { Stop, StopReason } from '../contract/stop-reasons.ts';
import type { Clock } from '../kernel/clock.ts';
import { callBack } from './adapters/call-line.ts';
import { type AgentService, connectService, type Sent } from './adapters/http.ts';
import { askToBegin } from './gate.ts';
import { bootMs } from './host-clock.ts';
import { files } from './launchers/attempt-files.ts';
import { readStop, recordStop } from './launchers/stop-record.ts';
import { openReading, unheard } from './reading.ts';
import { type AttemptEnd, ended, endedEarly, factsOf, type Run } from './run.ts';
import { startRunClock } from './run-clock.ts';
import { type Ending, httpFactsOf, streamOf } from './service-facts.ts';

/** Asking by id: soon at first, then every two seconds. */
const firstPollMs = 250;
const slowestPollMs = 2_000;
/** A service that has said twice that it does not know the id is asked once more; it may just have started. */
const missesMost = 3;
/** Whether a broken request was taken: a service that does not come back within this does not tell. */
const unclearMs = 60_000;
/** After `terminate` the service writes its partial result. */
const stopGraceMs = 15_000;

export const runService = async (run: Run): Promise<AttemptEnd> => {
  const { claim, state, parts } = run;
  if (!claim.agent.base_url) {
    const message = `Agent ${claim.agent.name} has the adapter "http" but no base_url. Set base_url to its address.`;
    return endedEarly(run, { prepare_error: { code: 'base_url_missing', message } });
  }
  const no = await askToBegin(run);
  if (no !== null) return no;
  const service = connectService(
    claim,
    { baseUrl: claim.agent.base_url, callback: callBack(claim, parts.adapterHost) },
    run.hide,
  );
  return follow(run, service, async (signal) => {
    state.started_at = parts.kernel.clock.now();
    state.started_boot_ms = bootMs();
    return service.send(signal);
  });
};

/** After a restart of the runner: whatever was sent was sent; the service is asked by id. */
export const goOnWithService = (run: Run): Promise<AttemptEnd> => {
  const sent: Sent =
    run.state.phase === 'spawned'
      ? { kind: 'accepted' }
      : { kind: 'unclear', code: 'RUNNER_RESTARTED', message: 'The runner was restarted while it sent the request.' };
  return follow(
    run,
    connectService(run.claim, { baseUrl: run.claim.agent.base_url ?? '', callback: null }, run.hide),
    async () => sent,
  );
};

const follow = async (
  run: Run,
  service: AgentService,
  send: (signal: AbortSignal) => Promise<Sent>,
): Promise<AttemptEnd> => {
  const { claim, state, control } = run;
  const { kernel, spool, leaving } = run.parts;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, leaving]);
  const dir = spool.dirOf(claim.attempt);
  let stop: Stop | null = null;
  let cancelGrace = () => {};

  const halt = (asked: Stop) => {
    if (stop !== null) return;
    stop = asked;
    try {
      // Cause before kill; a restarted runner carries it on.
      stop = recordStop(dir, asked).stop;
    } catch (error) {
      kernel.log.error('a stop reason is not on disk', { attempt: claim.attempt, reason: asked.reason, error });
    }
    service
      .terminate(stop.reason, signal)
      .catch((error) => kernel.log.warn('a service was not told to stop', { attempt: claim.attempt, error }));
    cancelGrace = kernel.clock.after(stop.reason === 'shutdown' ? 0 : stopGraceMs, () => over.abort());
  };
  const haltNow = (reason: StopReason, detail: string) => halt({ reason, at: kernel.clock.now(), detail });
  const passed = state.started_boot_ms === null ? 0 : Math.max(0, bootMs() - state.started_boot_ms - state.waiting_ms);
  const clock = startRunClock(
    kernel.clock,
    claim.timeout_s * 1000,
    () => haltNow('deadline', `${claim.timeout_s} s`),
    {
      run_ms: passed,
      waiting_ms: state.waiting_ms,
      waiting: false,
    },
    run.parts.renewed,
  );
  control.held({
    stop: halt,
    lost: () => haltNow('shutdown', 'the lease was lost'),
    setWaiting: (waiting, calledMs) => clock.setWaiting(waiting, calledMs),
    usage: async () => null,
  });

  const begun = readStop(dir);
  if (begun !== null) halt(begun);

  let sent: Sent | null = null;
  let ending: Ending | null = null;
  try {
    sent = await send(signal);
    control.startedAt = state.started_at;
    if (sent.kind === 'accepted') {
      state.phase = 'spawned';
      await spool.writeState(claim.attempt, state);
    }
    ending =
      sent.kind === 'answered' || sent.kind === 'not_accepted' ? sent : await byId(service, sent, signal, kernel.clock);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    control.released();
    cancelGrace();
    clock.stop();
    await service.close();
  }
  if (ending === null && leaving.aborted) return { kind: 'left' };

  await keepLog(dir, ending);
  const reading = await openReading(run, unheard);
  await reading.tail.finish();
  const http = httpFactsOf(sent, ending);
  const time = clock.read();
  const facts: Facts = {
    ...factsOf(run),
    stop,
    http,
    stream: streamOf(await reading.evidence(), ending),
    spawned_at: http.accepted ? state.started_at : null,
    ended_at: kernel.clock.now(),
    run_ms: time.run_ms,
    waiting_ms: time.waiting_ms,
    runner_restarts: state.restarts,
  };
  return ended(facts, () => reading.close());
};

/** Until the service says how it ended. A service that is away comes back or meets the deadline; nothing is sent again. */
const byId = async (
  service: AgentService,
  sent: Extract<Sent, { kind: 'accepted' | 'unclear' }>,
  signal: AbortSignal,
  clock: Clock,
): Promise<Ending> => {
  const since = clock.steady();
  let misses = 0;
  let taken = sent.kind === 'accepted';
  for (let wait = firstPollMs; ; wait = Math.min(slowestPollMs, wait * 2)) {
    const asked = await service.result(signal);
    if (asked.kind === 'answered') return asked;
    if (asked.kind === 'running') {
      taken = true;
      misses = 0;
    } else if (asked.kind === 'unknown_id' && ++misses >= missesMost) {
      // It answers and does not know the id: a request that was on its way never arrived.
      return !taken && sent.kind === 'unclear' ? { ...sent, kind: 'not_accepted' } : asked;
    } else if (asked.kind === 'not_told' && (asked.status === 401 || asked.status === 403) && ++misses >= missesMost) {
      // Seen after a restart of the runner: what was lent for this run is not on its disk.
      const message = 'The service does not accept our token any more, so its result cannot be fetched.';
      return { kind: 'answered', status: asked.status, body: { message, metadata: {} } };
    } else if (asked.kind === 'unreachable' && asked.code === 'EANSWERSIZE') {
      // It would be as long each time.
      return { ...asked, kind: 'unclear' };
    } else if (!taken && sent.kind === 'unclear' && clock.steady() - since > unclearMs) return sent;
    await clock.sleep(wait, signal);
  }
};

/** The service's own log becomes the attempt's stdout: one transcript for all kinds of agents. */
const keepLog = async (dir: string, ending: Ending | null): Promise<void> => {
  if (ending?.kind !== 'answered') return;
  const log = ending.body.execution_log;
  const path = files(dir).stdout;
  const written = await stat(path).then(
    (s) => s.size > 0,
    () => false,
  );
  if (!Array.isArray(log) || written) return;
  await appendFile(path, log.map((entry) => `${entryText(entry)}\n`).join(''), { mode: 0o600 });
};

const entryText = (entry: unknown): string => {
  try {
    return JSON.stringify(entry);
  } catch {
    // Thousands of levels deep: JSON that can be read and not be written.
    return '{"type":"unreadable"}';
  }
};
