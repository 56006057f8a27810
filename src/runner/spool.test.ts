import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimedWork } from '../../test/support/claimed-work.ts';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts } from '../contract/facts.ts';
import { silentLog } from '../kernel/log.ts';
import { createBallast } from './ballast.ts';
import { openSpool, type Spool } from './spool.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'runner-spool-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (): Promise<Spool> =>
  openSpool(join(dir, 'attempts'), createBallast(join(dir, 'ballast'), silentLog), silentLog);

describe('the spool', () => {
  it(
    verifies('R45')('holds the claim without message and without the values of what was lent, for nobody else to read'),
    async () => {
      const spool = await open();
      const credential = { id: 'c', kind: 'anthropic_api_key' as const, env: { ANTHROPIC_API_KEY: 'secret-value' } };
      const claim = claimedWork({ message: 'private words', credential });
      await spool.create(claim);
      const at = spool.dirOf(claim.attempt);
      const text = readFileSync(join(at, 'claim.json'), 'utf8');
      expect(text).not.toMatch(/secret-value|private words/);
      expect(await spool.readClaim(claim.attempt)).toMatchObject({
        token: claim.token,
        credential: { id: 'c', env: {} },
        lent_marks: [{ chars: 'secret-value'.length }],
      });
      expect(statSync(at).mode & 0o777).toBe(0o700);
      expect(statSync(join(at, 'claim.json')).mode & 0o777).toBe(0o600);
    },
  );

  it('believes a torn state to be the careful one: a process may have been started', async () => {
    const spool = await open();
    const claim = claimedWork();
    await spool.create(claim);
    expect((await spool.readState(claim.attempt)).phase).toBe('claimed');
    writeFileSync(join(spool.dirOf(claim.attempt), 'state.json'), '{"phase":"cl');
    expect((await spool.readState(claim.attempt)).phase).toBe('begun');
  });

  it('refuses an id that is a way out of it', async () => {
    const spool = await open();
    expect(() => spool.dirOf('../elsewhere')).toThrow(/not an attempt/);
  });
});

/** Why a small disk cannot be had here; null when it can. */
const noSmallDisk = ((): string | null => {
  const probe = mkdtempSync(join(tmpdir(), 'runner-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe], { stdio: 'ignore' });
    return null;
  } catch {
    return 'this user cannot mount a tmpfs';
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
})();

describe.skipIf(noSmallDisk !== null)(`a full disk${noSmallDisk ? ` (skipped: ${noSmallDisk})` : ''}`, () => {
  let disk: string;
  beforeEach(() => {
    disk = join(dir, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
  });
  const fill = () => {
    for (const [name, size] of [
      ['big', 65_536],
      ['small', 512],
    ] as const)
      try {
        for (;;) writeFileSync(join(disk, name), Buffer.alloc(size), { flag: 'a' });
      } catch {
        // full
      }
  };

  it(
    verifies('R34', 'D33')('gives up its ballast so that an ending can be recorded, and takes it back later'),
    async () => {
      const ballast = createBallast(join(disk, 'ballast'), silentLog, 1024 * 1024);
      await ballast.lay();
      const spool = await openSpool(join(disk, 'attempts'), ballast, silentLog);
      const claim = claimedWork();
      await spool.create(claim);
      fill();
      const facts = { ...emptyFacts('command'), exit_code: 3 };
      facts.stream.response = 'x'.repeat(300_000);
      await spool.writeFacts(claim.attempt, facts);
      expect(await spool.readFacts(claim.attempt)).toEqual(facts);
      expect(existsSync(join(disk, 'ballast'))).toBe(false);

      rmSync(join(disk, 'big'));
      await ballast.lay();
      expect(statSync(join(disk, 'ballast')).size).toBe(1024 * 1024);
    },
  );

  it('says so when there is no ballast left, and leaves no half file', async () => {
    const ballast = createBallast(join(disk, 'ballast'), silentLog, 1024 * 1024);
    const spool = await openSpool(join(disk, 'attempts'), ballast, silentLog);
    const claim = claimedWork();
    await spool.create(claim);
    fill();
    const facts = { ...emptyFacts('command'), exit_code: 3 };
    facts.stream.response = 'x'.repeat(300_000);
    await expect(spool.writeFacts(claim.attempt, facts)).rejects.toThrow(/ENOSPC/);
    expect(await spool.readFacts(claim.attempt)).toBeNull();
    expect(existsSync(join(spool.dirOf(claim.attempt), 'facts.json.new'))).toBe(false);
  });
});
