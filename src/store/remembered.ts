/**
 * What the only writer of a database may remember between transactions, because nobody else can change it: never a count of
 * slots, only how much is certainly left before something must be counted again. Forgotten at every rollback.
 */
const perEngine = new WeakMap<object, Map<string, number>>();

export const remembered = (engine: object): Map<string, number> => {
  let map = perEngine.get(engine);
  if (!map) {
    map = new Map();
    perEngine.set(engine, map);
  }
  return map;
};

export const forget = (engine: object): void => void perEngine.get(engine)?.clear();
