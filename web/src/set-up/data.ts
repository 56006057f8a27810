/** What the pages of the set-up read and change: people, keys, the audit, settings, notifications, health. Bodies as the routes give them. */
import { useQuery } from '@tanstack/react-query';
import type { Role } from '../../../src/contract/principal.ts';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';

const get = async <T>(path: string): Promise<T> => (await api.request<T>(path)).body;
/** A change; the answer's body. */
export const put = async <T>(method: 'POST' | 'PUT' | 'DELETE', path: string, json?: unknown): Promise<T> =>
  (await api.request<T>(path, { method, ...(json !== undefined && { json }) })).body;

export interface Person {
  id: string;
  username: string;
  email: string | null;
  role: Role;
  created_at: string;
}
export interface Invite {
  id: string;
  role: Role;
  username: string | null;
  email: string | null;
  status: 'open' | 'accepted' | 'expired';
  created_at: string;
  expires_at: string;
}
export interface Key {
  id: string;
  name: string;
  description: string | null;
  key_prefix: string;
  scope: string;
  agent_name: string | null;
  is_active: boolean;
  created_at: string;
  last_used_at: string | null;
}
export interface AuditRow {
  id: string;
  at: string;
  by: string;
  by_name: string | null;
  action: string;
  target: string;
  data: Record<string, unknown>;
}
export interface Health {
  overall: 'healthy' | 'degraded' | 'critical';
  critical_issues: { agent: string | null; issue: string }[];
  warnings: { agent: string | null; issue: string }[];
  agents: { name: string; desired_state: string; reachable: boolean; credential: string | null; alerts: number }[];
}

export const useRunnerList = () => useQuery({ queryKey: keys.runners, queryFn: () => api.runners() });
export const useNotifications = () => useQuery({ queryKey: keys.notifications, queryFn: () => api.notifications() });
export const useBackups = () => useQuery({ queryKey: keys.backups, queryFn: () => api.backups() });
export const usePeople = () => useQuery({ queryKey: keys.people, queryFn: () => get<Person[]>('/api/users') });
export const useInvites = () =>
  useQuery({ queryKey: keys.invites, queryFn: () => get<Invite[]>('/api/users/invites') });
export const useKeys = () => useQuery({ queryKey: keys.apiKeys, queryFn: () => get<Key[]>('/api/mcp/keys') });
export const useHealth = () =>
  useQuery({ queryKey: keys.health, queryFn: () => get<Health>('/api/ops/fleet/health'), refetchInterval: 15_000 });
export const useDoctor = () =>
  useQuery({
    queryKey: keys.doctor,
    queryFn: () => get<{ ok: boolean; checks: { name: string; ok: boolean; found: string }[] }>('/api/doctor'),
  });
export const readAudit = (before: string | null, by: string, action: string) => {
  const query = new URLSearchParams({ limit: '100' });
  if (before !== null) query.set('before', before);
  if (by !== '') query.set('by', by);
  if (action !== '') query.set('action', action);
  return get<AuditRow[]>(`/api/audit?${query}`);
};
