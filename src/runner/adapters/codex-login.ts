/**
 * The auth.json of a ChatGPT login on this host: one file per credential, to which the CODEX_HOME of each agent has a link. Seen
 * with 0.171: the CLI writes through the link and locks beside the file, so that agents of one login refresh it together and never
 * use up each other's token. What the CLI has changed goes back to the server after the run; the newer of two copies wins.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCodexLogin } from '../../contract/codex-login.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';
import { linkTo } from './link-to.ts';
import { credentialDir, makeDir } from './places.ts';

/** Its own directory, which the agent's user may write: the CLI makes its lock there. */
const dirOf = (home: string, id: string) => join(credentialDir(home, id), 'login');
const fileOf = (home: string, id: string) => join(dirOf(home, id), 'auth.json');
/** What the server is known to have, as a hash; outside the reach of the agent. */
const knownOf = (home: string, id: string) => join(credentialDir(home, id), 'login.known');

const readText = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

export const noteKnownLogin = async (home: string, id: string, login: string): Promise<void> => {
  await mkdir(credentialDir(home, id), { recursive: true, mode: 0o700 });
  await writeFile(knownOf(home, id), hash(login), { mode: 0o600 });
};

/** Changed here and not given back yet, of the same account, and newer than what the server lends. */
const isAhead = (here: string | null, lent: string, known: string | null): boolean => {
  const [own, theirs] = [here === null ? null : readCodexLogin(here), readCodexLogin(lent)];
  if (own === null || theirs === null || hash(here!) === known) return false;
  return own.account === theirs.account && own.refreshedAt > theirs.refreshedAt;
};

/** Lays the lent login where the CLI looks for it. A copy here that was refreshed after the server's stays. */
export const placeLogin = async (codexHome: string, id: string, lent: string, host: AdapterHost): Promise<void> => {
  const file = fileOf(host.home, id);
  await makeDir(dirOf(host.home, id), host);
  const here = await readText(file);
  if (!isAhead(here, lent, await readText(knownOf(host.home, id)))) {
    if (here !== lent) {
      await writeFile(`${file}.new`, lent, { mode: 0o600 });
      host.ownedByAgent(`${file}.new`);
      await rename(`${file}.new`, file);
    }
    await noteKnownLogin(host.home, id, lent);
  }
  await linkTo(file, join(codexHome, 'auth.json'));
};

/** The login as it stands here now; null when there is none that is whole. */
const loginHere = async (home: string, id: string): Promise<string | null> => {
  const text = await readText(fileOf(home, id));
  return text !== null && readCodexLogin(text) !== null ? text : null;
};

/** What the server does not have yet; null when nothing has changed. */
export const changedLogin = async (home: string, id: string): Promise<string | null> => {
  const here = await loginHere(home, id);
  return here === null || hash(here) === (await readText(knownOf(home, id))) ? null : here;
};
