/** What Drover adds to a run: the wall time of a synchronous call against the bare CLI, paired, by turns. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startModelApi } from '../test/model-api/server.ts';
import { claudeBin, install } from '../test/support/installation.ts';
import { type Figure, median } from './measure.ts';

const pairs = 10;

export const addedTime = async (): Promise<Figure[]> => {
  const provider = await startModelApi();
  const drover = await install();
  try {
    const workspace = join(drover.home, 'bench-workspace');
    mkdirSync(workspace);
    await drover.api('POST', '/api/subscriptions', { name: 'bench', kind: 'anthropic_api_key', token: 'sk-bench' });
    await drover.api('POST', '/api/agents', {
      name: 'c',
      adapter: 'claude',
      executable: claudeBin,
      workspace,
      workspace_mode: 'shared',
      model: 'claude-sonnet-4-5',
      env: { ANTHROPIC_BASE_URL: provider.url },
    });
    await drover.api('POST', '/api/agents', { name: 't', adapter: 'command', command: ['cat'] });
    const through = async (name: string) => {
      const at = performance.now();
      const r = await drover.api('POST', `/api/agents/${name}/task`, { message: 'ping' });
      if (r.status !== 200) throw new Error(`${name}: ${r.status} ${JSON.stringify(r.body)}`);
      return performance.now() - at;
    };
    const bareClaude = async () => {
      const at = performance.now();
      // As the adapter runs it; spawned by this process.
      const { spawn } = await import('node:child_process');
      await new Promise<void>((done, fail) => {
        const child = spawn(
          claudeBin,
          ['-p', '--output-format', 'stream-json', '--verbose', '--model', 'claude-sonnet-4-5'],
          {
            cwd: workspace,
            env: {
              PATH: process.env.PATH,
              HOME: drover.home,
              CLAUDE_CONFIG_DIR: join(drover.home, 'bench-cli'),
              ANTHROPIC_API_KEY: 'sk-bench',
              ANTHROPIC_BASE_URL: provider.url,
              DISABLE_AUTOUPDATER: '1',
              CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            },
            stdio: ['pipe', 'ignore', 'ignore'],
          },
        );
        child.stdin.end('ping');
        child.on('exit', (code) => (code === 0 ? done() : fail(new Error(`the bare CLI ended with ${code}`))));
      });
      return performance.now() - at;
    };
    await through('c');
    await bareClaude();
    const diffs: number[] = [];
    const bares: number[] = [];
    for (let i = 0; i < pairs; i++) {
      const first = i % 2 === 0;
      const a = first ? await through('c') : await bareClaude();
      const b = first ? await bareClaude() : await through('c');
      bares.push(first ? b : a);
      diffs.push(first ? a - b : b - a);
    }
    const cats: number[] = [];
    for (let i = 0; i < 20; i++) {
      const whole = await through('t');
      const at = performance.now();
      spawnSync('cat', { input: 'ping' });
      cats.push(whole - (performance.now() - at));
    }
    return [
      { what: 'bare Claude Code run', value: median(bares), unit: 'ms', aim: null },
      { what: 'added to a Claude Code run', value: median(diffs), unit: 'ms', aim: { atMost: 150 } },
      { what: 'added to a run of `cat`', value: median(cats), unit: 'ms', aim: { atMost: 150 } },
    ];
  } finally {
    await drover.end();
    await provider.close();
  }
};
