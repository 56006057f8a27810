/** What is read and changed of one agent: one hook per thing, under keys that the agent's events make stale. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AgentPatch } from '../../../src/contract/agent.ts';
import type { AgentDetailBody } from '../../../src/contract/agent-bodies.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { say } from '../parts/notices.tsx';

/** What the server answers, by the contract's own schema; a type only, so that no schema is in the page's code. */
export type AgentDetail = (typeof AgentDetailBody)['_output'];

const at = (name: string, more = '') => `/api/agents/${encodeURIComponent(name)}${more}`;
const read = async <T>(path: string): Promise<T> => (await api.request<T>(path)).body;

export const useAgent = (name: string) =>
  useQuery({ queryKey: keys.ofAgent(name, 'detail'), queryFn: () => read<AgentDetail>(at(name)) });

export const useChangeAgent = (name: string, said: string) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (patch: AgentPatch) => write(() => api.request<AgentDetail>(at(name), { method: 'PUT', json: patch })),
    onSuccess: ({ body }) => {
      queries.setQueryData(keys.ofAgent(name, 'detail'), body);
      say(said);
      void queries.invalidateQueries({ queryKey: keys.agents });
    },
  });
};

interface Permissions {
  mode: 'default' | 'list';
  permitted_agents: string[];
  available_agents: { name: string; status: string; type: string | null; permitted: boolean }[];
}
export const usePermissions = (name: string) =>
  useQuery({ queryKey: keys.ofAgent(name, 'permissions'), queryFn: () => read<Permissions>(at(name, '/permissions')) });
export const putPermissions = (name: string, permitted_agents: string[]) =>
  api.request<Permissions>(at(name, '/permissions'), { method: 'PUT', json: { permitted_agents } });

export interface FileNode {
  name: string;
  path: string;
  type: 'file' | 'directory' | 'link' | 'other';
  size: number | null;
  modified: string | null;
  children?: FileNode[];
}
export const useFiles = (name: string) =>
  useQuery({
    queryKey: keys.files(name),
    queryFn: () => read<{ tree: FileNode[]; truncated: boolean }>(at(name, '/files')),
  });
export const downloadHref = (name: string, path: string): string =>
  at(name, `/files/download?path=${encodeURIComponent(path)}`);

export const useLogs = (name: string, tail: number) =>
  useQuery({
    queryKey: keys.logs(name, tail),
    queryFn: () => read<{ logs: string }>(at(name, `/logs?tail=${tail}`)),
    // Lines come without an event of their own.
    refetchInterval: 5_000,
  });

export interface ChatSession {
  session_id: string | null;
  is_main: boolean;
  /** What it began with; null = too far back. */
  title: string | null;
  message_count: number;
  total_cost: number | null;
  context_tokens: number | null;
  context_window: number | null;
  status: 'open' | 'cleared' | 'none';
  last_message_at: string | null;
}
export const useChatSessions = (name: string) =>
  useQuery({
    queryKey: keys.ofAgent(name, 'sessions'),
    queryFn: async () => (await read<{ sessions: ChatSession[] }>(at(name, '/chat/sessions'))).sessions,
  });

interface Said {
  role: 'user' | 'assistant';
  content: string;
  timestamp: string;
  session_id: string | null;
  execution_id: string;
}
/** Turns kept on the screen: more than any context holds. */
const turnsMost = 200;
export const useSaid = (name: string, session: string | null) =>
  useQuery({
    queryKey: keys.ofAgent(name, 'said', session ?? ''),
    queryFn: async () =>
      (
        await read<{ messages: Said[] }>(
          at(name, `/chat/history/persistent?limit=${turnsMost}&session_id=${encodeURIComponent(session ?? '')}`),
        )
      ).messages,
    enabled: session !== null,
  });

export const clearChat = (name: string) =>
  api.request<{ cleared: number }>(at(name, '/chat/history'), { method: 'DELETE' });

export const useCredentials = () => useQuery({ queryKey: keys.credentials, queryFn: () => api.credentials() });
export const assignCredential = (name: string, credential: string | null) =>
  api.request(
    `/api/subscriptions/agents/${encodeURIComponent(name)}`,
    credential === null ? { method: 'DELETE' } : { method: 'PUT', json: { subscription: credential } },
  );
