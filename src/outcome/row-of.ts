/**
 * A table's row for a word that came from outside. A CLI, a gateway or a proxy may say `constructor` or `__proto__`, which every
 * object has, and no table.
 */
export const rowOf = <T>(table: Readonly<Record<string, T>>, word: string | null | undefined): T | undefined =>
  word != null && Object.hasOwn(table, word) ? table[word] : undefined;
