/** A schedule as its body on the wire: what a person wrote, when it is due next and was last. Pure. */
import { z } from 'zod';
import { catchUps, overlaps, type ScheduleRow } from '../../contract/schedule.ts';
import { iso, isoOrNull } from '../route.ts';

export const ScheduleBody = z.object({
  id: z.string(),
  agent_name: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  cron_expression: z.string(),
  timezone: z.string(),
  message: z.string(),
  model: z.string().nullable(),
  enabled: z.boolean(),
  overlap: z.enum(overlaps),
  catch_up: z.enum(catchUps),
  jitter_seconds: z.number(),
  timeout_seconds: z.number().nullable(),
  max_retries: z.number().nullable(),
  /** When it really runs: the time of its pattern and its jitter. */
  next_run_at: z.string().nullable(),
  next_fire_at: z.string().nullable(),
  last_run_at: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});

export const presentSchedule = (s: ScheduleRow): z.infer<typeof ScheduleBody> => ({
  id: s.id,
  agent_name: s.agent_name,
  name: s.name,
  description: s.description,
  cron_expression: s.cron_expression,
  timezone: s.timezone,
  message: s.message,
  model: s.model,
  enabled: s.enabled,
  overlap: s.overlap,
  catch_up: s.catch_up,
  jitter_seconds: s.jitter_s,
  timeout_seconds: s.timeout_s,
  max_retries: s.max_retries,
  next_run_at: isoOrNull(s.next_due_at),
  next_fire_at: isoOrNull(s.next_fire_at),
  last_run_at: isoOrNull(s.last_fire_at),
  created_by: s.created_by,
  created_at: iso(s.created_at),
  updated_at: iso(s.updated_at),
});
