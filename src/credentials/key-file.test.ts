import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { systemRandom } from '../kernel/ids.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { loadSealer, type SealedRow } from './key-file.ts';

let home: string;
beforeEach(() => {
  said = [];
  home = mkdtempSync(join(tmpdir(), 'drover-key-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
let said: string[] = [];
const log: Log = { ...silentLog, warn: (text) => void said.push(text) };
const load = (secretKey: string | null = null, rows: SealedRow[] = []) =>
  loadSealer({ home, secretKey }, { random: systemRandom, log }, rows);

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

  it(verifies('D33')('is not made anew while something is sealed with the one that is missing'), () => {
    const row = { id: 'c1', name: 'team-key', sealed: load().seal('c1', 'sk') };
    const key = readFileSync(join(home, 'secret.key'), 'utf8').trim();
    rmSync(join(home, 'secret.key'));
    expect(() => load(null, [row])).toThrow(/secret\.key is missing.*team-key.*backup.*DROVER_SECRET_KEY/);
    expect(existsSync(join(home, 'secret.key'))).toBe(false);
    expect(load(key, [row]).open('c1', row.sealed)).toBe('sk');
    expect(said).toEqual([]);
  });

  it('says at the start what the key does not open', () => {
    const row = { id: 'c1', name: 'team-key', sealed: load().seal('c1', 'sk') };
    load(null, [row]);
    expect(said).toEqual([]);
    load(Buffer.alloc(32, 9).toString('base64'), [row]);
    expect(said).toEqual([expect.stringMatching(/^team-key cannot be opened.*DROVER_SECRET_KEY.*store them anew/)]);
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
