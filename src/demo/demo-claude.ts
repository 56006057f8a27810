/**
 * The program of the demo's agents: stands in for Claude Code so that `drover demo` needs neither it nor a key. It reads
 * the options that matter to the stream (session, permission mode), plays the scene that bin/demo-claude took from the
 * environment, and ends as that scene ends. It is a shim and says so in every text and in its version.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { play } from './play.ts';
import { isScene, sceneEnv, scenes } from './scenes.ts';
import { shimVersion, speaker } from './stream-json.ts';

// Options of the real CLI that the adapter may give and that change nothing here are passed over, values and all.
const { values } = parseArgs({
  args: process.argv.slice(2),
  strict: false,
  allowPositionals: true,
  options: {
    version: { type: 'boolean', short: 'v' },
    scene: { type: 'string' },
    resume: { type: 'string', short: 'r' },
    'session-id': { type: 'string' },
    'permission-mode': { type: 'string' },
    'dangerously-skip-permissions': { type: 'boolean' },
  },
});
const given = (name: keyof typeof values): string | null => {
  const value = values[name];
  return typeof value === 'string' ? value : null;
};

if (values.version === true) {
  process.stdout.write(`${shimVersion} (shim of drover demo, not Claude Code)\n`);
} else {
  const scene = given('scene');
  if (!isScene(scene)) {
    process.stderr.write(`demo-claude: set ${sceneEnv} to one of ${scenes.join(', ')}.\n`);
    process.exit(1);
  }
  // The prompt is read and thrown away, so that whoever writes it never meets a closed pipe.
  process.stdin.on('error', () => {}).resume();
  const say = speaker({
    sessionId: given('resume') ?? given('session-id') ?? randomUUID(),
    permissionMode:
      values['dangerously-skip-permissions'] === true ? 'bypassPermissions' : (given('permission-mode') ?? 'default'),
    cwd: process.cwd(),
  });
  process.exit(await play(scene, { say, cwd: process.cwd(), now: new Date(), sleep }));
}
