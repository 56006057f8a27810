/**
 * What the only writer of a database may remember between transactions, because nobody else can change it: never a count of
 * slots, only how much is certainly left before something must be counted again. Forgotten at every rollback.
 *
 * `unchanged` holds what only plain enqueues have touched since it was read: places in line, rows of agents. Any other verb
 * makes it forgotten, whatever it does, so that no verb has to know who remembers what.
 */
const perEngine = new WeakMap<object, Map<string, number>>();
const sinceOthers = new WeakMap<object, Map<string, unknown>>();

const mapOf = <V>(maps: WeakMap<object, Map<string, V>>, engine: object): Map<string, V> => {
  let map = maps.get(engine);
  if (!map) {
    map = new Map();
    maps.set(engine, map);
  }
  return map;
};

export const remembered = (engine: object): Map<string, number> => mapOf(perEngine, engine);

/** Keys begin with the name of what they hold; whoever writes a key is the only one to read it. */
export const unchanged = (engine: object): Map<string, unknown> => mapOf(sinceOthers, engine);

/** Before and after every verb that does more than to add a row. */
export const mayHaveChanged = (engine: object): void => sinceOthers.get(engine)?.clear();

export const forget = (engine: object): void => {
  perEngine.get(engine)?.clear();
  sinceOthers.get(engine)?.clear();
};
