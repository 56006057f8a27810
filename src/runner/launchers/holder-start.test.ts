import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, kernelWith, lives, until } from '../../../test/support/held.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { createHolderClient } from './holder-client.ts';

it(
  verifies(
    'R2',
    'R22',
  )('a holder that is shot while it starts is started once more: the work that waits for it is no bad configuration'),
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'holder-'));
    const silent = { exit: () => {}, lost: () => {} };
    const client = createHolderClient(kernelWith(), home, silent, fixture('held-holder-dies-once.ts'));
    const hello = await client.reach();
    expect(existsSync(join(home, 'died-once'))).toBe(true);
    expect(lives(hello.pid)).toBe(true);
    expect(await client.retire()).toBe(true);
    await until(() => expect(lives(hello.pid)).toBe(false));
    client.close();
    rmSync(home, { recursive: true, force: true });
  },
);
