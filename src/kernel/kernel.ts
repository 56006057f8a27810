/** What every part gets instead of reading it from the world: time, ids, chance, a log. */
import type { Clock } from './clock.ts';
import type { Ids, Random } from './ids.ts';
import type { Log } from './log.ts';

export interface Kernel {
  clock: Clock;
  ids: Ids;
  random: Random;
  log: Log;
}
