/** The suite on SQLite. */
import { budgetsConformance } from './budgets.ts';
import { callsConformance } from './calls.ts';
import { fanOutsConformance } from './fan-outs.ts';
import { leasesConformance } from './leases.ts';
import { lifeConformance } from './life.ts';
import { limitsConformance } from './limits.ts';
import { operatorConformance } from './operator.ts';
import { orderConformance } from './order.ts';
import { peopleConformance } from './people.ts';
import { plansConformance } from './plans.ts';
import { randomConformance } from './random.ts';
import { schedulesConformance } from './schedules.ts';
import { sqliteInProcess } from './sqlite-in-process.ts';
import { weatherConformance } from './weather.ts';

lifeConformance(sqliteInProcess);
limitsConformance(sqliteInProcess);
budgetsConformance(sqliteInProcess);
leasesConformance(sqliteInProcess);
orderConformance(sqliteInProcess);
callsConformance(sqliteInProcess);
fanOutsConformance(sqliteInProcess);
peopleConformance(sqliteInProcess);
operatorConformance(sqliteInProcess);
weatherConformance(sqliteInProcess);
schedulesConformance(sqliteInProcess);
plansConformance(sqliteInProcess);
randomConformance(sqliteInProcess, 60);
