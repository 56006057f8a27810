import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { CredentialKind, CredentialRow } from '../contract/credential.ts';
import { systemRandom } from '../kernel/ids.ts';
import { lend, parseEnvLines } from './lend.ts';
import { sealer } from './seal.ts';

const box = sealer(Buffer.alloc(32, 7).toString('base64'), systemRandom);
const row = (kind: CredentialKind, secret: string | null): CredentialRow => ({
  id: 'c1',
  name: 'one',
  kind,
  sealed: secret === null ? null : box.seal('c1', secret),
  max_parallel: null,
  pool: null,
  state: 'ok',
  until: null,
  last_evidence: null,
  last_used_at: null,
  created_at: 0,
  owner_id: null,
  agent_id: null,
  replaced_at: null,
  state_at: null,
  worked_at: null,
  pace: null,
  pace_at: null,
  headroom: null,
});

describe('lending a credential', () => {
  it(verifies('R29')('gives each kind its own name in the environment'), () => {
    expect(lend(row('claude_oauth', 's1'), box)?.env).toEqual({ CLAUDE_CODE_OAUTH_TOKEN: 's1' });
    expect(lend(row('anthropic_api_key', 's2'), box)?.env).toEqual({ ANTHROPIC_API_KEY: 's2' });
    expect(lend(row('gemini_api_key', 's3'), box)?.env).toEqual({ GEMINI_API_KEY: 's3' });
    expect(lend(row('env', 'A=1\n# no\nexport B="two words"'), box)?.env).toEqual({ A: '1', B: 'two words' });
    expect(lend(row('openai_api_key', 's4'), box)?.env).toEqual({ OPENAI_API_KEY: 's4', CODEX_API_KEY: 's4' });
    expect(lend(row('host_login', null), box)?.env).toEqual({});
    // A file, which no environment shows.
    expect(lend(row('codex_login', '{"tokens":{}}'), box)).toMatchObject({ env: {}, login: '{"tokens":{}}' });
    expect(lend(null, box)).toBeNull();
  });
  it('reads .env lines as people write them', () => {
    expect(parseEnvLines("X='a b'\r\nY = z \nnot a line\n=nope")).toEqual({ X: 'a b', Y: 'z' });
  });
});

describe('sealing', () => {
  it('opens what it sealed, and says so when the key or the row is another', () => {
    const sealed = box.seal('c1', 'geheim');
    expect(sealed).not.toContain('geheim');
    expect(box.open('c1', sealed)).toBe('geheim');
    expect(() => box.open('c2', sealed)).toThrow(/does not open/);
    expect(() => sealer(Buffer.alloc(32, 8).toString('base64'), systemRandom).open('c1', sealed)).toThrow(
      /secret\.key/,
    );
  });
});
