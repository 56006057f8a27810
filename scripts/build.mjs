// Bundles the server's entries (flat in one directory, so that workers are found beside their owner) and builds the page into
// `web` below it. Anew into a directory that nobody runs from: a server of an earlier build goes on undisturbed.
//   node scripts/build.mjs DIRECTORY
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { build as buildPage } from 'vite';
import { root } from './node.mjs';

const out = resolve(process.argv[2]);
const entries = {
  main: 'src/main.ts',
  runner: 'src/runner/entry.ts',
  holder: 'src/holder/holder.ts',
  cli: 'src/cli/main.ts',
  restore: 'src/restore.ts',
  'demo-claude': 'src/demo/demo-claude.ts',
  'sqlite-writer': 'src/store/engines/sqlite-writer.ts',
  'sqlite-reader': 'src/store/engines/sqlite-reader.ts',
  'sqlite-backup': 'src/store/engines/sqlite-backup.ts',
  'log-writer': 'src/store/engines/log-writer.ts',
};
const present = Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file))));
rmSync(out, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: present,
  platform: 'node',
  external: [...builtinModules, /^node:/],
  logLevel: 'warn',
  checks: { circularDependency: false },
});
await bundle.write({
  dir: out,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunk-[name]-[hash].js',
  sourcemap: true,
  minify: false,
  comments: false,
});
await bundle.close();
// One character above U+00FF makes V8 keep a whole file in two bytes a character: 2 MB more for the server alone.
for (const name of readdirSync(out).filter((n) => /\.c?js$/.test(n))) {
  const file = join(out, name);
  const code = readFileSync(file, 'utf8');
  const narrow = code.replace(/[^\0-\xff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (narrow !== code) writeFileSync(file, narrow);
}
if (existsSync(join(root, 'web', 'index.html')))
  await buildPage({
    root: join(root, 'web'),
    configFile: join(root, 'web', 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(out, 'web') },
  });
