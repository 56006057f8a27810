/** All migrations in order; the number is the position. Append only: a released one is never changed or removed. */
import { start } from './0001-start.ts';
import { stall } from './0002-stall.ts';
import { operator } from './0003-operator.ts';
import { calls } from './0004-calls.ts';
import { weather } from './0005-weather.ts';
import { schedules } from './0006-schedules.ts';
import { doors } from './0007-doors.ts';
import { money } from './0008-money.ts';
import { credentialPool } from './0009-credential-pool.ts';
import { morning } from './0010-morning.ts';
import type { Words } from './words.ts';

export interface Migration {
  name: string;
  statements(w: Words): string[];
}

export const migrations: readonly Migration[] = [
  { name: '0001-start', statements: start },
  { name: '0002-stall', statements: stall },
  { name: '0003-operator', statements: operator },
  { name: '0004-calls', statements: calls },
  { name: '0005-weather', statements: weather },
  { name: '0006-schedules', statements: schedules },
  { name: '0007-doors', statements: doors },
  { name: '0008-money', statements: money },
  { name: '0009-credential-pool', statements: credentialPool },
  { name: '0010-morning', statements: morning },
];
