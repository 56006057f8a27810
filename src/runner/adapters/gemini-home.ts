/**
 * A home of its own for each run of Gemini CLI (GEMINI_CLI_HOME): settings and instructions of this run, a link to the agent's
 * sessions. The CLI keeps sessions per directory it ran in, under a name it looks up by a marker; with a marker of ours every
 * run of an agent finds them, in whatever worktree (tried with 0.61). A login of the host's user is linked in, file by file.
 */
import { mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import { callPipe } from '../calls/call-pipe.ts';
import { type AdapterHost, cannotPrepare, type McpServer, type PrepareError } from './adapter.ts';
import { callMostS } from './call-line.ts';
import { linkTo } from './link-to.ts';
import { agentDir, instructionsOf, makeDir, runDir } from './places.ts';

type Json = Record<string, unknown>;

/** Per directory and per run: never the user's. */
const ownEntries = new Set(['tmp', 'history', 'projects.json']);

/** `trust`: calls to other agents are allowed or refused by the server, in words; nobody could be asked here. */
const mcpOf = (drover: McpServer | null, users: Json): Json => {
  if (drover === null) return {};
  const part = (name: string) => (users[name] ?? {}) as Json;
  const { allowed, excluded } = part('mcp') as { allowed?: string[]; excluded?: string[] };
  return {
    mcpServers: { ...part('mcpServers'), drover: { ...drover, timeout: callMostS * 1000, trust: true } },
    mcp: {
      ...part('mcp'),
      ...(allowed ? { allowed: [...allowed, 'drover'] } : {}),
      ...(excluded ? { excluded: excluded.filter((name) => name !== 'drover') } : {}),
    },
  };
};

const settingsOf = (claim: ClaimedWork, users: Json, drover: McpServer | null): Json => {
  const part = (name: string) => (users[name] ?? {}) as Json;
  const turns = claim.options.max_turns;
  return {
    ...users,
    // Named, because the CLI guesses wrong when an address is set: it then knows only its own gateway.
    ...(claim.credential?.env.GEMINI_API_KEY === undefined
      ? {}
      : { security: { ...part('security'), auth: { selectedType: 'gemini-api-key' } } }),
    privacy: { ...part('privacy'), usageStatisticsEnabled: false },
    // The operator upgrades the CLI, not a run in the middle of the night.
    general: { ...part('general'), enableAutoUpdate: false, enableAutoUpdateNotification: false },
    ...mcpOf(drover, users),
    ...(turns ? { model: { ...part('model'), maxSessionTurns: turns } } : {}),
  };
};

const readText = async (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

const parse = (text: string | null): Json | null => {
  try {
    return text === null ? {} : (JSON.parse(text) as Json);
  } catch {
    return null;
  }
};

/** `usersHome`: whose login it is; null with a lent one. */
export const layGeminiHome = async (
  claim: ClaimedWork,
  cwd: string,
  usersHome: string | null,
  host: AdapterHost,
): Promise<string | PrepareError> => {
  const home = join(runDir(host.home, claim), 'gemini');
  const dir = join(home, '.gemini');
  const users = usersHome === null ? null : join(usersHome, '.gemini');
  const settings = parse(users === null ? null : await readText(join(users, 'settings.json')));
  if (settings === null)
    return cannotPrepare(
      'gemini_settings',
      `${join(users!, 'settings.json')} is not plain JSON, so the settings of this run cannot be put beside it. Take its comments out, or lend the agent a gemini_api_key.`,
    );
  const memory = users === null ? null : await readText(join(users, 'GEMINI.md'));
  const instructions = [memory, instructionsOf(claim)].filter((t) => t).join('\n\n');

  const drover = await callPipe(claim, host);
  const sessions = await makeDir(join(agentDir(host.home, claim.agent.id), 'gemini-chats'), host);
  const project = join(dir, 'tmp', 'run');
  await mkdir(project, { recursive: true, mode: 0o700 });
  await writeFile(join(project, '.project_root'), await realpath(cwd), { mode: 0o600 });
  await linkTo(sessions, join(project, 'chats'));
  await writeFile(join(dir, 'settings.json'), JSON.stringify(settingsOf(claim, settings, drover)), {
    mode: 0o600,
  });
  if (instructions !== '') await writeFile(join(dir, 'GEMINI.md'), instructions, { mode: 0o600 });
  if (users !== null)
    for (const entry of await readdir(users).catch(() => []))
      if (!ownEntries.has(entry) && entry !== 'settings.json' && entry !== 'GEMINI.md')
        await symlink(join(users, entry), join(dir, entry));
  host.ownedByAgent(home);
  return home;
};
