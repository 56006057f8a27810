/** What the page reads: one hook per list, all under the names of live/keys.ts, so that events move them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../src/client/request.ts';
import type { AgentBody, ExecutionBody, IncidentBody, RunnerBody } from '../../../src/client/wire.ts';
import { api } from '../api.ts';
import { now } from '../clock.ts';
import { keys } from '../live/keys.ts';
import type { AgentUse, Caps } from '../words/reasons.ts';

/** A page of the server at most; the counts come from the limits, so that more than this is never hidden. */
export const listed = 200;

export const useLimits = () => useQuery({ queryKey: keys.limits, queryFn: () => api.limits() });
export const useAgents = () => useQuery({ queryKey: keys.agents, queryFn: () => api.agents() });

export const useRunning = () =>
  useQuery({
    queryKey: keys.running,
    queryFn: async () => (await api.executions({ status: 'running,waiting', limit: listed })).executions,
    select: (rows) => [...rows].sort(byStart),
  });

/** The oldest, as many as are shown: every open screen reads them again after each change. */
export const useQueued = (most: number) =>
  useQuery({
    queryKey: [...keys.queued, `${most}`],
    queryFn: async () => (await api.executions({ status: 'queued', order: 'oldest', limit: most })).executions,
    select: (rows) => [...rows].sort(byQueued),
    placeholderData: keepPreviousData,
  });

export const useEnded = () =>
  useQuery({
    queryKey: keys.ended,
    queryFn: async () => (await api.executions({ status: 'success,failed,cancelled,skipped', limit: 60 })).executions,
    select: (rows) => [...rows].sort(byEnd),
  });

/** A server or a role without these lists shows no such section: it is no fault of the page. */
const orNone = async <T>(read: () => Promise<T[]>): Promise<T[] | null> => {
  try {
    return await read();
  } catch (e) {
    if (e instanceof ApiError && (e.status === 404 || e.status === 403)) return null;
    throw e;
  }
};
export const useOperatorItems = () =>
  useQuery({ queryKey: keys.operator, queryFn: () => orNone(() => api.operatorItems()) });
export const useRunners = () => useQuery({ queryKey: keys.runners, queryFn: () => orNone(() => api.runners()) });

export const useIncidents = (): { open: IncidentBody[] } => {
  const { data } = useQuery({ queryKey: keys.incidents, queryFn: () => api.incidents() });
  return { open: (data?.incidents ?? []).filter((i) => i.state !== 'closed') };
};

/** Seen within two of its longest polls. Null = not known. */
const connectedMs = 60_000;

export const useConnectedRunners = (): RunnerBody[] | null => {
  const { data } = useRunners();
  if (!data) return null;
  return data.filter((r) => r.last_seen !== null && now() - Date.parse(r.last_seen) < connectedMs);
};

export const useExecution = (id: string) =>
  useQuery({ queryKey: keys.execution(id), queryFn: () => api.execution(id) });

/** The tool a run is in stands only in its own body: asked for while it is on the screen. */
export const useActiveTool = (row: ExecutionBody, ask: boolean): string | null => {
  const own = useQuery({
    queryKey: keys.execution(row.id),
    queryFn: () => api.execution(row.id),
    enabled: ask && row.active_tool === undefined,
    refetchInterval: 3_000,
  });
  return row.active_tool ?? own.data?.active_tool ?? null;
};

const time = (iso: string | null | undefined): number => (iso ? Date.parse(iso) : 0);
/** The longest running first: it is the one to wonder about. */
const byStart = (a: ExecutionBody, b: ExecutionBody) =>
  time(a.started_at ?? a.queued_at) - time(b.started_at ?? b.queued_at) || (a.id < b.id ? -1 : 1);
const byQueued = (a: ExecutionBody, b: ExecutionBody) =>
  time(a.queued_at) - time(b.queued_at) || (a.id < b.id ? -1 : 1);
const byEnd = (a: ExecutionBody, b: ExecutionBody) =>
  time(b.completed_at) - time(a.completed_at) || (a.id < b.id ? 1 : -1);

export const usageOf = (agent: AgentBody): AgentUse & { waiting: number } => ({
  name: agent.name,
  running: agent.running ?? 0,
  waiting: agent.waiting ?? 0,
  queued: agent.queued ?? 0,
  cap: agent.max_parallel_tasks ?? null,
});

/** The numbers that reasons name: of the row's agent and of the fleet. */
export const useCaps = (): ((agent: string) => Caps) => {
  const { data: limits } = useLimits();
  const { data: agents } = useAgents();
  return (name) => {
    const own = agents?.find((a) => a.name === name);
    return {
      agent: name,
      agentRunning: own?.running ?? null,
      agentCap: own?.max_parallel_tasks ?? null,
      fleetRunning: limits?.running ?? null,
      fleetCap: limits?.agent_call_limit ?? null,
    };
  };
};
