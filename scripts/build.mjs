// Bundles the server's entries (flat in dist/server, so that workers are found beside their owner) and builds the page.
import { existsSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { build as buildPage } from 'vite';
import { root } from './node.mjs';

const entries = {
  main: 'src/main.ts',
  runner: 'src/runner/entry.ts',
  holder: 'src/holder/holder.ts',
  cli: 'src/cli/main.ts',
  'mcp-bridge': 'src/mcp/bridge.ts',
  'demo-claude': 'src/demo/demo-claude.ts',
  'sqlite-writer': 'src/store/engines/sqlite-writer.ts',
  'sqlite-reader': 'src/store/engines/sqlite-reader.ts',
  'log-writer': 'src/store/engines/log-writer.ts',
};
const present = Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file))));
rmSync(join(root, 'dist', 'server'), { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: present,
  platform: 'node',
  external: [...builtinModules, /^node:/],
  logLevel: 'warn',
  checks: { circularDependency: false },
});
await bundle.write({
  dir: join(root, 'dist', 'server'),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunk-[name]-[hash].js',
  sourcemap: true,
  minify: false,
});
await bundle.close();
if (existsSync(join(root, 'web', 'index.html')))
  await buildPage({ root: join(root, 'web'), configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' });
