/**
 * Which provider an agent's runs go to: agents with the same one share its weather. Read from what routes the CLI (the adapter and
 * the routing names of the agent's env), never from a login. Null = not known, and then no weather holds it up. Pure.
 */
import type { AdapterName } from '../../contract/agent.ts';

const homes: Record<string, string> = {
  'https://api.anthropic.com': 'anthropic',
  'https://api.openai.com': 'openai',
  'https://chatgpt.com': 'openai',
  'https://generativelanguage.googleapis.com': 'google',
};

/** The origin alone: paths and queries of a gateway may hold names of teams, and they share its weather. */
const endpoint = (url: string | null | undefined, otherwise: string | null): string | null => {
  if (url === null || url === undefined || !URL.canParse(url)) return otherwise;
  const { origin } = new URL(url);
  return homes[origin] ?? origin;
};

const isSet = (value: string | undefined): boolean => value !== undefined && !['', '0', 'false'].includes(value);

export const providerOf = (agent: {
  adapter: AdapterName;
  env: Record<string, string>;
  base_url: string | null;
}): string | null => {
  const { env } = agent;
  switch (agent.adapter) {
    case 'claude':
      if (isSet(env.CLAUDE_CODE_USE_BEDROCK)) return endpoint(env.ANTHROPIC_BEDROCK_BASE_URL, 'bedrock');
      if (isSet(env.CLAUDE_CODE_USE_VERTEX)) return endpoint(env.ANTHROPIC_VERTEX_BASE_URL, 'vertex');
      return endpoint(env.ANTHROPIC_BASE_URL, 'anthropic');
    case 'codex':
      return endpoint(env.OPENAI_BASE_URL, 'openai');
    case 'gemini':
      return endpoint(env.GOOGLE_GEMINI_BASE_URL, 'google');
    case 'http':
      return endpoint(agent.base_url, null);
    case 'command':
      return null;
    default:
      return agent.adapter satisfies never;
  }
};
