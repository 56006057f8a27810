/**
 * The page over a whole installation: the bundle, a real runner, real processes, a real Chromium. From the first start to the first
 * answer without a terminal; and a server that is killed under an open page, which goes on by itself and misses nothing.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install } from '../support/installation.ts';
import { chromiumPath, complaintsOf, noChromium, openBrowser, password } from '../support/page-bench.ts';
import { makeRepo } from '../support/repo.ts';
import { verifies } from '../support/verifies.ts';

const title = noChromium
  ? `the page of an installation (skipped: there is no ${chromiumPath})`
  : 'the page of an installation';

/** The same port before and after a restart: an open page knows no other. */
const freePort = (): Promise<number> =>
  new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });

describe.skipIf(noChromium)(title, () => {
  let whole: Installation;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    whole = await install({ DROVER_PORT: String(await freePort()) });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(60_000);
    complaints = complaintsOf(page);
  });
  afterAll(async () => {
    await browser?.close();
    await whole?.end();
  });
  const live = () => page.getByText('Live', { exact: true }).waitFor();

  it('leads from the first start to the first answer', async () => {
    await page.goto(whole.url);
    await page.getByLabel('Owner token').fill(whole.token);
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('The same again').fill(password);
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await live();
    await page.getByLabel('Name').fill('echo');
    await page.getByLabel('a command').check();
    await page.getByLabel('Command', { exact: true }).fill(`sh -c 'cat; echo " says the echo"'`);
    await page.getByRole('button', { name: 'Add agent' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello there');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Verdict' }).getByRole('heading', { name: 'Success' }).waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('hello there says the echo').waitFor();
    expect(complaints).toEqual([]);
  });

  it(
    verifies('R2')('goes on after the server was killed and started again: what ended meanwhile is there, untouched'),
    async () => {
      const go = join(whole.home, 'go');
      await whole.api('POST', '/api/agents', {
        name: 'patient',
        adapter: 'command',
        command: ['sh', '-c', `while [ ! -e '${go}' ]; do sleep 0.05; done; echo it came to its end`],
      });
      const { execution_id } = (
        await whole.api('POST', '/api/agents/patient/task', { message: 'wait for it', async_mode: true })
      ).body;
      await page.goto(`${whole.url}/executions/${execution_id}`);
      await page.getByText('running for', { exact: false }).waitFor();
      await page.evaluate(() => Object.assign(window, { sameDocument: true }));
      await whole.killServer();
      await page.getByText('Reconnecting', { exact: true }).waitFor();
      writeFileSync(go, '');
      await whole.start();
      await live();
      await page.getByRole('region', { name: 'Verdict' }).getByRole('heading', { name: 'Success' }).waitFor();
      await page.getByRole('region', { name: 'Answer' }).getByText('it came to its end').waitFor();
      // The session outlives the restart, and so does the page: a write gets a fresh CSRF token by itself.
      await page.getByRole('button', { name: 'Run again' }).click();
      await page.waitForURL((url) => !url.pathname.endsWith(execution_id));
      await page.getByRole('region', { name: 'Verdict' }).getByRole('heading', { name: 'Success' }).waitFor();
      expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
    },
  );

  it(
    verifies('R31')('shows the work of a run in a git repository as a diff, with what was planted in it as text'),
    async () => {
      const repo = join(whole.home, 'project');
      makeRepo(repo, { 'a.txt': 'before\n' });
      await whole.api('POST', '/api/agents', {
        name: 'writer',
        adapter: 'command',
        workspace: repo,
        command: ['sh', '-c', 'cat > a.txt; echo written'],
      });
      const planted = 'after <b onclick="x">bold</b> \u202egnp';
      const { execution_id } = (
        await whole.api('POST', '/api/agents/writer/task', { message: planted, async_mode: true })
      ).body;
      await whole.ended(execution_id);
      await page.goto(`${whole.url}/executions/${execution_id}`);
      const work = page.getByRole('region', { name: 'Work' });
      await work.getByText('1 file changed').waitFor();
      await work.getByText('show the diff').click();
      await work.getByText('-before').waitFor();
      await work.getByText('+after <b onclick="x">bold</b> ⟦RLO⟧gnp').waitFor();
      expect((await whole.api('GET', `/api/executions/${execution_id}/diff`)).body).toMatchObject({ truncated: false });
    },
  );
});
