import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { programEnv, serverArgs } from './programs.ts';

it('npm start starts the server as everything else does', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const env = Object.entries(programEnv('dist')).map(([name, value]) => `${name}=${value}`);
  expect(scripts.start).toBe([...env, 'node', ...serverArgs, 'dist/server/main.js'].join(' '));
});
