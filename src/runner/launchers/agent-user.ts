/**
 * DROVER_AGENT_USER: as root, agents run as this user. It must be able to reach its workspace and its streams, and nothing
 * else of ours: directories on the way get the right to pass (not to list), only what the agent works on becomes its own.
 * The attempt's directory stays ours: an agent that could write exit.json could tell any ending it likes.
 */
import { chmodSync, lchownSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Fault } from '../../contract/errors.ts';
import { readText } from './proc.ts';

export interface AgentUser {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

const users = (passwd: string): AgentUser[] =>
  passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', gid = '', , home] = line.split(':');
    return /^\d+$/.test(uid) && /^\d+$/.test(gid)
      ? [{ name, uid: Number(uid), gid: Number(gid), home: home || '/' }]
      : [];
  });

export const findUser = (passwd: string, name: string): AgentUser | null =>
  users(passwd).find((u) => u.name === name) ?? null;
export const findUserById = (passwd: string, uid: number): AgentUser | null =>
  users(passwd).find((u) => u.uid === uid) ?? null;

/** Null when none is asked for. Every wrong setting is told at start, not at the first run. */
export const agentUser = (
  name: string | null,
  own = process.getuid?.() ?? 0,
  passwd = readText('/etc/passwd') ?? '',
): AgentUser | null => {
  if (name === null) return null;
  const user = findUser(passwd, name);
  if (user === null)
    throw new Fault(
      'invalid',
      `DROVER_AGENT_USER: there is no user ${JSON.stringify(name)} in /etc/passwd. Create it: useradd -m ${name}`,
    );
  if (user.uid === 0) throw new Fault('invalid', 'DROVER_AGENT_USER: root is no protection. Name another user.');
  if (own !== 0 && own !== user.uid)
    throw new Fault(
      'invalid',
      'DROVER_AGENT_USER works only when Drover runs as root. Leave it empty, or start as root.',
    );
  return own === 0 ? user : null;
};

const inside = (home: string, path: string): boolean => {
  const way = relative(home, path);
  return way !== '' && !way.startsWith('..');
};

/** x for others on every directory from `home` down to `path`, so that the agent's user can pass. */
export const letPass = (home: string, path: string): void => {
  for (let dir = path; dir === home || inside(home, dir); dir = dirname(dir)) {
    const { mode } = statSync(dir);
    if ((mode & 0o001) === 0) chmodSync(dir, (mode & 0o7777) | 0o001);
    if (dir === home) return;
  }
};

/** Everything of a tree becomes that owner's; links themselves, never what they lead to. */
export const ownTree = (path: string, owner: { uid: number; gid: number }): void => {
  lchownSync(path, owner.uid, owner.gid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) ownTree(below, owner);
    else lchownSync(below, owner.uid, owner.gid);
  }
};

/** Something of ours (a default workspace, a worktree, a stream) becomes the agent's. A person's own path is left as it is. */
export const giveToAgent = (user: AgentUser, home: string, path: string): void => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !inside(home, path)) return;
  letPass(home, dirname(path));
  if (stat.uid === user.uid) return;
  if (stat.isDirectory()) ownTree(path, user);
  else lchownSync(path, user.uid, user.gid);
};
