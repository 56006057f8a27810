/** Paths and queries that several routes of work share. A limit above the bound is the bound: pollers ask for "all". */
import { z } from 'zod';
import { ExecutionStatus } from '../../contract/execution.ts';

export const AgentExecutionParams = z.object({ name: z.string().max(300), id: z.string().max(300) });

const mostListed = 200;
export const Limit = z.coerce
  .number()
  .int()
  .min(1)
  .default(50)
  .transform((n) => Math.min(n, mostListed));

/** `?status=queued,running`, or the parameter repeated. */
export const statusList = z
  .union([z.string(), z.array(z.string())])
  .transform((given) =>
    [given]
      .flat()
      .flatMap((s) => s.split(','))
      .map((s) => s.trim())
      .filter((s) => s !== ''),
  )
  .pipe(z.array(ExecutionStatus))
  .optional();
