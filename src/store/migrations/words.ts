/** The few words in which the engines' DDL differs: all that a migration may vary by. */
export interface Words {
  int: string;
  real: string;
  /** Ends a CREATE TABLE. */
  table: string;
  /** Ends the CREATE TABLE of one that lives in the order of its key. */
  keyed: string;
  /** An id that only rises and is never used again. */
  eventId: string;
}

/** WITHOUT ROWID saves the second tree of a text key: one write less per row in the hot tables. */
export const sqliteWords: Words = {
  int: 'INTEGER',
  real: 'REAL',
  table: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
  eventId: 'INTEGER PRIMARY KEY AUTOINCREMENT',
};
