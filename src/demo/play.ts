/**
 * What really happens in each scene: a file is edited, memory is really taken, a stranger really kills the process, and
 * the two refusals come in the exact shape in which Claude Code passes on those of the model API. The demo imports nothing
 * of Drover: it is an agent's program, and Drover must find out by itself how it ended.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoFile, type Scene } from './scenes.ts';
import type { Speaker } from './stream-json.ts';

const MiB = 1024 * 1024;

interface Stage {
  say: Speaker;
  cwd: string;
  now: Date;
  sleep(ms: number): Promise<void>;
}

/** The exit code, for the scenes that live to have one. */
export const play = (scene: Scene, stage: Stage): Promise<number> => scripts[scene](stage);

const scripts: Record<Scene, (stage: Stage) => Promise<number>> = {
  success: async ({ say, cwd, now, sleep }) => {
    say.init();
    say.text(`I am the shim of "drover demo", not Claude Code. I add a line to ${demoFile}.`);
    await sleep(300);
    const line = `Drover was here: ${now.toISOString()}\n`;
    const file = join(cwd, demoFile);
    say.tool('Write', { file_path: file, content: line }, () => {
      appendFileSync(file, line);
      return `The file ${file} has been updated.`;
    });
    await sleep(300);
    say.success(`Added one line to ${demoFile}.`);
    return 0;
  },

  // 16 MiB each 15 ms: over 384 MiB in half a second, slow enough for a watch of RSS to see it where no cgroup holds it.
  // Random-looking bytes, each page written: nothing to merge or to leave unbacked. It stops at 640 MiB, which any host
  // that runs agents can spare.
  oom: async ({ say, sleep }) => {
    say.init();
    say.text('I am the shim of "drover demo", not Claude Code. I take memory until something stops me.');
    const taken: Buffer[] = [];
    for (let bytes = 0; bytes < 640 * MiB; bytes += 16 * MiB) {
      const block = Buffer.allocUnsafe(16 * MiB);
      for (let i = 0; i < block.length; i += 8) block.writeDoubleLE(i * 1.000_001 + bytes, i);
      taken.push(block);
      await sleep(15);
    }
    await sleep(10_000);
    say.success(`I hold ${taken.length * 16} MiB and nothing stopped me: this host does not hold the memory limit.`);
    return 0;
  },

  // The killer has its own session and knows only a pid, like an operator in another terminal or a guard of the host. No
  // tool call is open when it strikes, and none of ours ever named it.
  killed: async ({ say, cwd, sleep }) => {
    say.init();
    say.text('I am the shim of "drover demo", not Claude Code. In a second a stranger kills me with SIGKILL.');
    say.tool('Bash', { command: 'pwd' }, () => cwd);
    spawn('/bin/sh', ['-c', `sleep 1; kill -9 ${process.pid}`], { detached: true, stdio: 'ignore' }).unref();
    await sleep(60_000);
    say.success('Nobody killed me within a minute.');
    return 0;
  },

  login: async ({ say, sleep }) => {
    say.init();
    for (const attempt of [1, 2]) {
      say.raw({
        type: 'system',
        subtype: 'api_retry',
        attempt,
        max_retries: 10,
        retry_delay_ms: 200,
        error_status: 401,
        error: 'authentication_failed',
      });
      await sleep(200);
    }
    say.apiError(
      'Failed to authenticate. API Error: 401 Invalid bearer token',
      { api_error_status: 401, api_error_type: 'authentication_error' },
      'authentication_failed',
    );
    return 1;
  },

  limit: async ({ say, now }) => {
    say.init();
    // The next full hour that is at least an hour away, as a five-hour window would have it.
    const resetsAt = Math.ceil(now.getTime() / 3_600_000 + 1) * 3600;
    const info = {
      status: 'rejected',
      resetsAt,
      rateLimitType: 'five_hour',
      overageStatus: 'rejected',
      overageDisabledReason: 'org_level_disabled',
      isUsingOverage: false,
    };
    say.raw({
      type: 'rate_limit_event',
      rate_limit_info: {
        ...info,
        unifiedWindows: {
          five_hour: { utilization: 1, resetsAt, status: 'rejected' },
          seven_day: { utilization: 0.4, resetsAt: resetsAt + 3 * 86_400, status: 'allowed' },
        },
      },
    });
    const hour = new Date(resetsAt * 1000).getUTCHours();
    say.apiError(
      `You've hit your 5-hour limit · resets ${hour % 12 || 12}${hour < 12 ? 'am' : 'pm'} (UTC)`,
      {
        api_error_status: 429,
        api_error: 'usage_limit_reached',
        api_error_type: 'rate_limit_error',
        api_error_params: { rate_limit_info: info },
      },
      'rate_limit',
    );
    return 1;
  },
};
