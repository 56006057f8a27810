/** The suite on SQLite. */
import { lifeConformance } from './life.ts';
import { sqliteInProcess } from './sqlite-in-process.ts';

lifeConformance(sqliteInProcess);
