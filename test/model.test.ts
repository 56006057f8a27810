/** The model of claim, yield and resume is checked by Spin where Spin is: a short subset here, all of it with docs/model/run.sh. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { verifies } from './support/verifies.ts';

const dir = resolve('docs/model');
const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};
/** A line that must hold, and lines that must fail: a check that finds nothing proves nothing. */
const short = ['chain', 'fan', 'keep-slot', 'early-answer', 'late-sibling'];
const missing = ['spin', 'gcc'].filter((p) => !has(p));

describe('the model', () => {
  if (missing.length > 0) it.skip(`is checked where ${missing.join(' and ')} can be had`, () => {});
  else
    it(verifies('R17')('has no deadlock in chains and fans, and finds the planted ones'), async () => {
      const work = mkdtempSync(join(tmpdir(), 'drover-model-'));
      try {
        const { stdout } = await promisify(execFile)(join(dir, 'run.sh'), short, {
          env: { ...process.env, WORK: work },
        });
        for (const line of short) expect(stdout).toContain(line);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    });

  it('names a test for each of its findings', () => {
    const readme = readFileSync(join(dir, 'README.md'), 'utf8');
    const held = readme.slice(readme.indexOf('## 7.'));
    for (let n = 1; n <= 17; n++) expect(held).toMatch(new RegExp(`^\\| F${n} .*\\.ts`, 'm'));
    for (const [, file] of held.matchAll(/`((?:src|test)\/[\w./-]+\.ts)`/g))
      expect(() => readFileSync(resolve(file!)), file).not.toThrow();
  });
});
