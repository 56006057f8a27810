/**
 * The built page in a real Chromium against the real app on loopback, with the runner played by the test (support/fleet.ts).
 * The page is built from its sources into a directory of its own, as the set-up builds it.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { silentLog } from '../../src/kernel/log.ts';
import { type Fleet, openFleet } from './fleet.ts';

export const chromiumPath = '/usr/bin/chromium';
/** For `describe.skipIf`: the reason stands in the title. */
export const noChromium = !existsSync(chromiumPath);

export const buildPage = async (): Promise<{ dir: string; remove: () => void }> => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-page-'));
  const web = resolve('web');
  // vitest says `test`, and a page built under that name carries React's development build.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build({
      root: web,
      configFile: join(web, 'vite.config.ts'),
      logLevel: 'error',
      build: { outDir: dir, emptyOutDir: true },
    });
  } finally {
    process.env.NODE_ENV = before;
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
};

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export const password = 'a long enough password';

export interface ServedFleet extends Fleet {
  url: string;
  /** Cuts every open connection, as a restarting proxy does. */
  cut(): void;
  /** Submits a task and gives its id. */
  task(agent: string, message: string, more?: Record<string, unknown>): Promise<string>;
}

/** `port` 0: a free one. */
export const serveFleet = async (pageDir: string, env: Record<string, string> = {}, port = 0): Promise<ServedFleet> => {
  const fleet = await openFleet(env, silentLog, pageDir);
  const url = await fleet.app.listen({ host: '127.0.0.1', port });
  return {
    ...fleet,
    url,
    cut: () => fleet.app.server.closeAllConnections(),
    task: async (agent, message, more = {}) => {
      const answer = await fleet.api('POST', `/api/agents/${agent}/task`, { message, async_mode: true, ...more });
      if (answer.status !== 202) throw new Error(`task: ${answer.status} ${answer.text}`);
      return answer.body.execution_id as string;
    },
  };
};

/** Sets the admin password by the route and signs the page in by its form. */
export const signIn = async (fleet: ServedFleet, page: Page, path = '/'): Promise<void> => {
  await fleet.api('POST', '/api/setup/admin-password', {
    password,
    confirm_password: password,
    setup_token: fleet.owner,
  });
  await page.goto(fleet.url + path);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
};

/** Everything the page complained about; a refused policy is among it. */
export const complaintsOf = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('pageerror', (e) => complaints.push(e.message));
  page.on('console', (m) => {
    // Chromium reports each 4xx of a fetch by itself: asking who is signed in is one, and expected.
    if (m.type() === 'error' && !m.text().startsWith('Failed to load resource')) complaints.push(m.text());
  });
  return complaints;
};
