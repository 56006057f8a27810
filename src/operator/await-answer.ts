/**
 * Who asked waits for the answer: answered at once, when it comes, or with the open item when `ms` have passed. A living execution
 * so takes its answer, which then starts no turn. Woken by the event of the change; the truth is the store.
 */
import type { OperatorItemRow } from '../contract/operator.ts';
import type { Principal } from '../contract/principal.ts';
import type { Deps } from '../flow/deps.ts';
import { commit } from '../record/commit.ts';
import { visibleItem } from './visible-item.ts';

export const awaitAnswer = async (
  deps: Deps,
  id: string,
  principal: Principal,
  ms: number,
  signal: AbortSignal,
): Promise<OperatorItemRow | null> => {
  const until = deps.kernel.clock.steady() + ms;
  for (;;) {
    const news = watch(deps, id, until - deps.kernel.clock.steady(), signal);
    try {
      const item = await visibleItem(deps, id, principal);
      if (item === null) return null;
      if (item.status === 'answered') return await taken(deps, item, principal);
      if (item.status === 'closed' || deps.kernel.clock.steady() >= until || signal.aborted) return item;
      await news.came;
    } finally {
      news.stop();
    }
  }
};

/** The execution that asked, by its token, or its agent by its key. Anybody else only reads. */
const taken = async (deps: Deps, item: OperatorItemRow, principal: Principal): Promise<OperatorItemRow> => {
  const takes =
    item.delivery === 'pending' &&
    (principal.kind === 'agent' || (principal.kind === 'execution' && principal.executionId === item.execution_id));
  if (!takes) return item;
  const token = principal.kind === 'execution' ? principal.token : null;
  const mine = await commit(deps, 'take_answer', { id: item.id, token });
  return mine ?? item;
};

/** Begins to listen before the store is asked: a change between the two is then seen by one of them. */
const watch = (deps: Deps, id: string, ms: number, signal: AbortSignal) => {
  const undo: (() => void)[] = [];
  const came = new Promise<void>((resolve) => {
    const done = () => resolve();
    undo.push(
      deps.feed.subscribe(
        deps.feed.last,
        (event) => {
          if (event.data.item_id === id) done();
        },
        done,
      ),
      deps.kernel.clock.after(Math.max(0, ms), done),
      () => signal.removeEventListener('abort', done),
    );
    signal.addEventListener('abort', done, { once: true });
  });
  return {
    came,
    stop() {
      for (const u of undo) u();
    },
  };
};
