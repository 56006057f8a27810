import { expect, it } from 'vitest';
import { providerOf } from './provider.ts';

it('agents that go to the same endpoint share its weather, whatever their paths, and an unknown one has none', () => {
  const of = (adapter: Parameters<typeof providerOf>[0]['adapter'], env = {}, base_url: string | null = null) =>
    providerOf({ adapter, env, base_url });
  expect(of('claude')).toBe('anthropic');
  expect(of('claude', { ANTHROPIC_BASE_URL: 'https://api.anthropic.com/' })).toBe('anthropic');
  expect(of('claude', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4010/team-a?key=1' })).toBe('http://127.0.0.1:4010');
  expect(of('claude', { CLAUDE_CODE_USE_BEDROCK: '1' })).toBe('bedrock');
  expect(of('claude', { CLAUDE_CODE_USE_BEDROCK: '0', CLAUDE_CODE_USE_VERTEX: 'true' })).toBe('vertex');
  expect(of('claude', { ANTHROPIC_BASE_URL: 'not a url' })).toBe('anthropic');
  expect(of('codex')).toBe('openai');
  expect(of('gemini')).toBe('google');
  expect(of('http', {}, 'http://svc.internal:8000/agents/1')).toBe('http://svc.internal:8000');
  expect(of('command', { ANTHROPIC_BASE_URL: 'https://api.anthropic.com' })).toBeNull();
});
