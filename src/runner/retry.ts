/** Tries again while the server is unreachable, with growing distance; a refusal and an abort come through. */
import { hashedBackoff } from '../kernel/backoff.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { ServerUnreachable } from './server-client.ts';

/** From a blink, so that a restart of the server (0.3 s) is hardly seen, to ten seconds. */
const firstMs = 200;
const mostMs = 10_000;

export const whileUnreachable = async <T>(
  kernel: Kernel,
  what: string,
  id: string,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> => {
  for (let failures = 1; ; failures++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ServerUnreachable)) throw error;
      if (failures === 1 || failures % 30 === 0)
        kernel.log.warn(`${what} is tried again`, { attempt: id, failures, why: error.message });
      await kernel.clock.sleep(hashedBackoff(id, failures, firstMs, mostMs), signal);
    }
  }
};
