/** What the pages read and change of schedules; bodies as the routes give them. */
import { useQuery } from '@tanstack/react-query';
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';

export interface Schedule {
  id: string;
  agent_name: string;
  name: string;
  cron_expression: string;
  timezone: string;
  message: string;
  enabled: boolean;
  overlap: 'skip' | 'queue';
  catch_up: 'none' | 'once' | 'all';
  jitter_seconds: number;
  next_run_at: string | null;
  last_run_at: string | null;
}
/** What a form of one holds. */
export type ScheduleDraft = Pick<
  Schedule,
  'agent_name' | 'name' | 'cron_expression' | 'timezone' | 'message' | 'overlap' | 'catch_up' | 'jitter_seconds'
>;
type TickBody = ExecutionBody & { fire_at: string; by_hand: boolean };

const at = (agent: string, id = '', more = '') =>
  `/api/agents/${encodeURIComponent(agent)}/schedules${id === '' ? '' : `/${encodeURIComponent(id)}`}${more}`;

export const useSchedules = () =>
  useQuery({
    queryKey: [...keys.schedules, 'all'],
    queryFn: async () => (await api.request<Schedule[]>('/api/schedules')).body,
  });

export const useHeld = () =>
  useQuery({
    queryKey: [...keys.schedules, 'held'],
    queryFn: async () => (await api.request<{ paused: boolean }>('/api/ops/schedules')).body.paused,
  });

/** Ticks that are shown of one schedule. */
export const ticksShown = 20;
export const useTicks = (s: Schedule) =>
  useQuery({
    queryKey: keys.runList({ ticks_of: s.id }),
    queryFn: async () =>
      (await api.request<TickBody[]>(at(s.agent_name, s.id, '/executions'), { query: { limit: ticksShown } })).body,
  });

export const usePreview = (cron: string, timezone: string, count: number) =>
  useQuery({
    queryKey: ['schedule-preview', cron, timezone, count],
    queryFn: async () =>
      (
        await api.request<{ times: { fire_at: string; local: string }[] }>('/api/schedules/preview', {
          method: 'POST',
          json: { cron_expression: cron, timezone, count },
        })
      ).body.times,
    enabled: cron.trim() !== '' && timezone.trim() !== '',
    retry: false,
  });

/** `id` null: a new one. */
export const putSchedule = (id: string | null, { agent_name, ...draft }: ScheduleDraft) =>
  id === null
    ? api.request<Schedule>(at(agent_name), { method: 'POST', json: draft })
    : api.request<Schedule>(at(agent_name, id), { method: 'PUT', json: draft });
export const doWith = (s: Schedule, verb: 'enable' | 'disable' | 'trigger' | 'remove') =>
  verb === 'remove'
    ? api.request(at(s.agent_name, s.id), { method: 'DELETE' })
    : api.request(at(s.agent_name, s.id, `/${verb}`), { method: 'POST' });
export const holdAll = (verb: 'pause' | 'resume') =>
  api.request<{ message: string }>(`/api/ops/schedules/${verb}`, { method: 'POST' });
