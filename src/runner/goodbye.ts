/**
 * The last thing a leaving runner does: claims that it never began leave its spool and are given back, so that they start at once
 * elsewhere, or here with the next runner. What was begun stays in the spool for that one. A server that does not answer frees
 * them by their lease.
 */
import type { GoodbyeRequest } from '../contract/runner-protocol.ts';
import type { RunnerParts } from './parts.ts';

/** One short request; nobody waits for it longer. */
const goodbyeMs = 2_000;

export const sayGoodbye = async ({
  spool,
  server,
  kernel,
  hostName,
}: Pick<RunnerParts, 'spool' | 'server' | 'kernel' | 'hostName'>): Promise<void> => {
  const holds: string[] = [];
  for (const attempt of await spool.list()) {
    const began = (await spool.readState(attempt)).phase !== 'claimed' || (await spool.readFacts(attempt)) !== null;
    if (began) holds.push(attempt);
    else await spool.remove(attempt);
  }
  const late = new AbortController();
  const undo = kernel.clock.after(goodbyeMs, () => late.abort(new Error('the server does not answer')));
  try {
    await server.goodbye({ host: hostName, holds } satisfies GoodbyeRequest, late.signal);
  } catch (error) {
    kernel.log.info('the server was not told that this runner leaves; its leases tell', { error });
  } finally {
    undo();
  }
};
