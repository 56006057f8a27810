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
import { credentialDir, makeDir, safeName } from './places.ts';

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

/** The CLI writes it in place: what is caught between its truncate and its write, some microseconds, is read again. */
const readWhole = async (file: string): Promise<string | null> => {
  let text = await readText(file);
  for (let again = 0; again < 5 && text !== null && readCodexLogin(text) === null; again++) text = await readText(file);
  return text;
};

/** Refreshed here since: the claim was handed out before that went back, or it has not gone back yet. Another account never is. */
const isAhead = (here: string | null, lent: string): boolean => {
  const own = here === null ? null : readCodexLogin(here);
  const theirs = readCodexLogin(lent);
  return own !== null && theirs !== null && own.account === theirs.account && own.refreshedAt > theirs.refreshedAt;
};

/** Lays the lent login where the CLI looks for it. A copy here that was refreshed after the server's stays. */
export const placeLogin = async (
  codexHome: string,
  { credential, attempt }: Pick<ClaimedWork, 'credential' | 'attempt'>,
  host: AdapterHost,
): Promise<void> => {
  if (credential?.login === undefined) return;
  const { id, login: lent } = credential;
  const file = fileOf(host.home, id);
  await makeDir(dirOf(host.home, id), host);
  const here = await readWhole(file);
  if (!isAhead(here, lent)) {
    if (here !== lent) {
      // Two runs of one login may begin at once.
      const fresh = `${file}.${safeName(attempt)}`;
      await writeFile(fresh, lent, { mode: 0o600 });
      host.ownedByAgent(fresh);
      await rename(fresh, file);
    }
    await noteKnownLogin(host.home, id, lent);
  }
  await linkTo(file, join(codexHome, 'auth.json'));
};

/** The login as it stands here now; null when there is none that is whole. */
const loginHere = async (home: string, id: string): Promise<string | null> => {
  const text = await readWhole(fileOf(home, id));
  return text !== null && readCodexLogin(text) !== null ? text : null;
};

/** What the server does not have yet; null when nothing has changed. */
export const changedLogin = async (home: string, id: string): Promise<string | null> => {
  const here = await loginHere(home, id);
  return here === null || hash(here) === (await readText(knownOf(home, id))) ? null : here;
};
