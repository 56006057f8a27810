import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../../bin/drover');
let tree: string;
beforeEach(() => {
  tree = realpathSync(mkdtempSync(join(tmpdir(), 'drover tree-')));
  for (const dir of ['bin', 'scripts', 'dist/server']) mkdirSync(join(tree, dir), { recursive: true });
  copyFileSync(script, join(tree, 'bin/drover'));
  writeFileSync(join(tree, 'package.json'), '{"type": "module"}');
  // Stands in for the set-up: says that it ran, on stdout as npm does, and writes a CLI that tells how it was called.
  writeFileSync(
    join(tree, 'scripts/setup.mjs'),
    `import { writeFileSync } from 'node:fs';
console.log('setting up');
writeFileSync('${tree}/dist/server/cli.js', 'console.log(import.meta.dirname, JSON.stringify(process.argv.slice(2))); process.exitCode = 7;');
writeFileSync('${tree}/dist/.stamp', '');`,
  );
});
afterEach(() => rmSync(tree, { recursive: true, force: true }));

const call = (file: string, args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((done) =>
    execFile(file, args, { env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } }, (error, out, err) =>
      done({ code: Number(error?.code ?? 0), out, err }),
    ),
  );

describe('bin/drover', () => {
  it('sets the tree up the first time, away from stdout, and passes arguments and exit code through', async () => {
    const told = `${tree}/dist/server ["run","a","two words","--"]\n`;
    expect(await call(join(tree, 'bin/drover'), ['run', 'a', 'two words', '--'])).toEqual({
      code: 7,
      out: told,
      err: 'setting up\n',
    });
    expect(await call(join(tree, 'bin/drover'), ['run', 'a', 'two words', '--'])).toEqual({
      code: 7,
      out: told,
      err: '',
    });
  });

  it('counts half a build as none', async () => {
    writeFileSync(join(tree, 'dist/server/cli.js'), 'console.log("half")');
    expect((await call(join(tree, 'bin/drover'), [])).err).toBe('setting up\n');
  });

  it('finds its tree through a chain of symlinks, relative ones too', async () => {
    mkdirSync(join(tree, 'elsewhere'));
    symlinkSync('../bin/drover', join(tree, 'elsewhere/one'));
    symlinkSync(join(tree, 'elsewhere/one'), join(tree, 'two'));
    expect((await call(join(tree, 'two'), ['ps'])).out).toBe(`${tree}/dist/server ["ps"]\n`);
  });
});
