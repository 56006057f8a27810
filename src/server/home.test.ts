/** A home that cannot be used is named with its reason and what to do, and nothing is left where it was tried. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../contract/errors.ts';
import { prepareHome } from './home.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-home-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const refusal = (home: string): Fault => {
  try {
    prepareHome(home);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error(`${home} was taken`);
};

describe('the home of a server', () => {
  it('is made with all its directories, for this user alone, and twice does no harm', () => {
    const home = join(dir, 'a', 'b');
    prepareHome(home);
    prepareHome(home);
    expect(readdirSync(home).sort()).toEqual(['log', 'run', 'runner', 'workspaces']);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('that is a file is refused as that, and the file stays', () => {
    const file = join(dir, 'file');
    writeFileSync(file, 'mine');
    expect(refusal(file).message).toBe(
      `DROVER_HOME ${file} cannot be used: ${file} is a file. Set DROVER_HOME to a directory.`,
    );
    expect(existsSync(file)).toBe(true);
  });

  it('below a file is refused as that', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(refusal(join(file, 'home')).message).toContain(`${file} is a file. Set DROVER_HOME`);
  });

  it('where no directory can be made is refused with what to do, not with a word of the system', () => {
    // Nobody, root too, makes directories in /proc.
    const { code, message } = refusal('/proc/drover/home');
    expect(message).toMatch(
      /^DROVER_HOME \/proc\/drover\/home cannot be used: .+\. Set DROVER_HOME to a directory .+\.$/,
    );
    expect(message).not.toMatch(/E[A-Z]{4,}/);
    expect(code).toBe('invalid');
  });
});
