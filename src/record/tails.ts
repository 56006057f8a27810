/**
 * News that log entries of an execution were stored: wakes those who follow its transcript. Only a nudge: the follower reads
 * the log from where it was, so a nudge that is lost or doubled changes nothing but when it looks.
 */
export interface Tails {
  appended(executionId: string): void;
  /** Calls `wake` on each append until the returned function is called. */
  follow(executionId: string, wake: () => void): () => void;
}

export const createTails = (): Tails => {
  const followers = new Map<string, Set<() => void>>();
  return {
    appended(id) {
      for (const wake of followers.get(id) ?? []) wake();
    },
    follow(id, wake) {
      const all = followers.get(id) ?? new Set();
      followers.set(id, all.add(wake));
      return () => {
        all.delete(wake);
        if (all.size === 0 && followers.get(id) === all) followers.delete(id);
      };
    },
  };
};
