/** One after another per key: for what a tool does not do safely at once. A failure of one does not touch the next. */
const last = new Map<string, Promise<unknown>>();

export const inTurn = <T>(key: string, run: () => Promise<T>): Promise<T> => {
  const turn = (last.get(key) ?? Promise.resolve()).then(run);
  const settled = turn.then(
    () => {},
    () => {},
  );
  last.set(key, settled);
  void settled.then(() => {
    if (last.get(key) === settled) last.delete(key);
  });
  return turn;
};
