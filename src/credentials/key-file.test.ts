import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { systemRandom } from '../kernel/ids.ts';
import { loadSealer } from './key-file.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-key-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
const load = (secretKey: string | null = null) => loadSealer({ home, secretKey }, systemRandom);

describe('the key that seals credentials', () => {
  it(
    verifies('R45')('is made once, readable by its owner alone, and opens after a restart what it sealed before'),
    () => {
      const sealed = load().seal('c1', 'sk-secret');
      expect(sealed).not.toContain('sk-secret');
      expect(statSync(join(home, 'secret.key')).mode & 0o777).toBe(0o600);
      expect(load().open('c1', sealed)).toBe('sk-secret');
    },
  );

  it('tightens a mode that lets others read', () => {
    load();
    chmodSync(join(home, 'secret.key'), 0o644);
    load();
    expect(statSync(join(home, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('never replaces a key that it cannot use, and says what to do', () => {
    writeFileSync(join(home, 'secret.key'), 'half a key');
    expect(() => load()).toThrow(/secret\.key does not hold 32 bytes.*backup/);
    expect(readFileSync(join(home, 'secret.key'), 'utf8')).toBe('half a key');
  });

  it('prefers DROVER_SECRET_KEY and writes no file then', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const sealed = load(key).seal('c1', 's');
    expect(() => statSync(join(home, 'secret.key'))).toThrow();
    expect(() => load().open('c1', sealed)).toThrow(/does not open with this key/);
    expect(load(key).open('c1', sealed)).toBe('s');
  });

  it('does not open a secret under the id of another credential', () => {
    const s = load();
    expect(() => s.open('c2', s.seal('c1', 'sk'))).toThrow(/credential c2/);
  });
});
