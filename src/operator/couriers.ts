/** Brings answers to who asked and news to who is to know: woken by what commits stir, else by time. Started once, by main.ts. */
import type { Deps } from '../flow/deps.ts';
import { createErrand } from '../kernel/errand.ts';
import type { Stirred } from '../store/store.ts';
import { deliverAnswers } from './deliver-answers.ts';
import { deliverNotifications } from './deliver-notifications.ts';

interface Couriers {
  /** Also takes up what an earlier process left. */
  start(): void;
  stir(stirred: Pick<Stirred, 'ended' | 'notices'>): void;
  stop(): Promise<void>;
}

/** An answer that was refused for now (agent stopped, backlog full) is offered again after this. */
const answersMs = 30_000;

export const createCouriers = (deps: Deps): Couriers => {
  const answers = createErrand(deps.kernel, 'bringing answers', async () => {
    await deliverAnswers(deps, null);
    return answersMs;
  });
  const notices = createErrand(deps.kernel, 'sending notifications', () => deliverNotifications(deps));
  let started = false;
  return {
    start() {
      started = true;
      answers.wake();
      notices.wake();
    },
    stir(stirred) {
      if (!started) return;
      // What has ended may have left an answer behind.
      if (stirred.ended.length > 0) answers.wake();
      if (stirred.notices) notices.wake();
    },
    async stop() {
      await Promise.all([answers.stop(), notices.stop()]);
    },
  };
};
