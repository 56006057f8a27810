import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { systemRandom } from '../kernel/ids.ts';
import { checkPassword, hashPassword } from './passwords.ts';

describe('passwords', () => {
  it(verifies('R44')('match their own hash only, and two hashes of one password differ'), async () => {
    const [a, b] = [
      await hashPassword('correct horse', systemRandom),
      await hashPassword('correct horse', systemRandom),
    ];
    expect(a).not.toBe(b);
    expect(await checkPassword('correct horse', a)).toBe(true);
    expect(await checkPassword('correct horse', b)).toBe(true);
    expect(await checkPassword('correct horsf', a)).toBe(false);
    expect(await checkPassword('', a)).toBe(false);
  });

  it('are the same in both ways of writing an umlaut', async () => {
    const hash = await hashPassword('gr\u00fcne wiese', systemRandom);
    expect(await checkPassword('gru\u0308ne wiese', hash)).toBe(true);
  });

  it('never match a user without one', async () => {
    expect(await checkPassword('', null)).toBe(false);
    expect(await checkPassword('x', 'not a hash')).toBe(false);
  });

  it('are hashed off the event loop', async () => {
    let turns = 0;
    let going = true;
    const turn = () => {
      turns++;
      if (going) setImmediate(turn);
    };
    setImmediate(turn);
    await hashPassword('correct horse', systemRandom);
    going = false;
    expect(turns).toBeGreaterThan(50);
  });
});
