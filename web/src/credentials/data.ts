/** What the page reads and changes of credentials besides the list: what providers said, where runs switched, how they are lent. */
import { useQuery } from '@tanstack/react-query';
import type { CredentialKind } from '../../../src/contract/credential.ts';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';

const get = async <T>(path: string): Promise<T> => (await api.request<T>(path)).body;

export interface CredentialEvent {
  id: number;
  at: string;
  credential_id: string;
  agent_name: string;
  execution_id: string;
  state: string;
  until: string | null;
  cause: string;
  evidence: string;
  effect: string | null;
}
interface Switched {
  id: number;
  at: string;
  agent_name: string;
  execution_id: string;
  from_id: string;
  to_id: string;
  cause: string;
}

export const useCredentialEvents = () =>
  useQuery({
    queryKey: [...keys.credentials, 'events'],
    queryFn: () => get<CredentialEvent[]>('/api/subscriptions/events?limit=500'),
  });
export const useSwitches = () =>
  useQuery({
    queryKey: [...keys.credentials, 'switches'],
    queryFn: () => get<Switched[]>('/api/subscriptions/switches?limit=20'),
  });

const autoSwitch = '/api/subscriptions/settings/auto-switch';
const spill = '/api/subscriptions/settings/spill';
export const useAutoSwitch = () =>
  useQuery({
    queryKey: [...keys.credentials, 'auto-switch'],
    queryFn: async () => (await get<{ enabled: boolean }>(autoSwitch)).enabled,
  });
export const useSpill = () =>
  useQuery({
    queryKey: [...keys.credentials, 'spill'],
    queryFn: async () => (await get<{ pools: string[] }>(spill)).pools,
  });
export const setAutoSwitch = (enabled: boolean) => api.request(autoSwitch, { method: 'PUT', json: { enabled } });
export const setSpill = (pools: string[]) => api.request(spill, { method: 'PUT', json: { pools } });

export const kindWords: Record<CredentialKind, string> = {
  claude_oauth: 'Claude plan (claude setup-token)',
  anthropic_api_key: 'Anthropic API key',
  openai_api_key: 'OpenAI API key',
  codex_login: 'ChatGPT login of Codex (auth.json)',
  gemini_api_key: 'Gemini API key',
  env: 'environment: NAME=value lines',
  host_login: 'the login of the host’s own user',
};
