/** Questions and approvals on the page: the built page in a real Chromium, the real app, an agent whose runner the test plays. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import {
  buildPage,
  chromiumPath,
  complaintsOf,
  noChromium,
  openBrowser,
  type ServedFleet,
  serveFleet,
  signIn,
} from '../support/page-bench.ts';
import { verifies } from '../support/verifies.ts';

const title = noChromium ? `the inbox on the page (skipped: there is no ${chromiumPath})` : 'the inbox on the page';

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    built = await buildPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    built?.remove();
  });
  beforeEach(async () => {
    fleet = await serveFleet(built.dir);
    await fleet.agent('writer');
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
  });
  afterEach(async () => {
    await page.close();
    await fleet.end();
    expect(complaints).toEqual([]);
  });

  /** An execution that asks and ends. */
  const asks = async (...questions: object[]): Promise<string[]> => {
    await fleet.task('writer', 'write');
    const [work] = await fleet.until(
      () => fleet.runner.claim(1),
      (claims) => claims.length > 0,
    );
    await fleet.runner.begin(work!);
    const authorization = `Bearer ${executionBearer(work!.execution_id, work!.token)}`;
    const ids: string[] = [];
    for (const q of questions)
      ids.push((await fleet.api('POST', '/api/operator-queue', q, { authorization })).body.id as string);
    await fleet.runner.finish(work!, { stream: { cli: 'claude', session_id: 'cli-1' } });
    return ids;
  };
  const section = () => page.getByRole('region', { name: /^Needs you/ });
  const item = (text: string) => section().getByRole('listitem').filter({ hasText: text });
  const stored = async (id: string) => (await fleet.api('GET', `/api/operator-queue/${id}`)).body;
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

  it(
    verifies('R42')('takes an offered answer, one in words, and a denial with its note, and brings each to the agent'),
    async () => {
      await signIn(fleet, page);
      const [offered, words, approval] = await asks(
        { title: 'Which branch?', details: 'Both build.\nNeither is released.', options: ['main', 'next'] },
        { title: 'What is it <b>called</b>?' },
        { kind: 'approval', title: 'Push to main', severity: 'high' },
      );
      await item('Which branch?').getByText('Neither is released.').waitFor();
      await item('What is it <b>called</b>?').waitFor();
      expect(
        await section()
          .getByRole('button', { name: /^Acknowledge/ })
          .count(),
      ).toBe(0);
      // The gravest first.
      expect(await section().getByRole('listitem').first().textContent()).toContain('Push to main');

      await item('Which branch?').getByRole('button', { name: /^next/ }).click();
      await item('Which branch?').waitFor({ state: 'detached' });
      await page.getByText('writer goes on with it').waitFor();
      expect(await stored(offered!)).toMatchObject({ answer: 'next', answered_by: 'admin', delivery: 'resumed' });

      await item('called').getByLabel('Answer').fill('Drover\nof course');
      await item('called')
        .getByRole('button', { name: /^Answer/ })
        .click();
      await item('called').waitFor({ state: 'detached' });
      expect(await stored(words!)).toMatchObject({ answer: 'Drover\nof course' });

      await item('Push to main').getByLabel('Note').fill('On a branch first.');
      await item('Push to main').getByRole('button', { name: /^Deny/ }).click();
      await section().waitFor({ state: 'detached' });
      expect(await stored(approval!)).toMatchObject({ answer: 'deny', note: 'On a branch first.' });
      const turns = page.getByRole('region', { name: /^Waiting/ }).getByRole('listitem');
      await turns.filter({ hasText: 'The operator has' }).nth(2).waitFor();
    },
  );

  it('does not take the second answer for the first', async () => {
    await signIn(fleet, page);
    const [id] = await asks({ title: 'Which branch?', options: ['main', 'next'] });
    await item('Which branch?').waitFor();
    // The page does not know yet: what it reads is what was.
    const list = (await fleet.api('GET', '/api/operator-queue?status=pending')).text;
    const stale = '**/api/operator-queue?**';
    await page.route(stale, (route) => route.fulfill({ contentType: 'application/json', body: list }));
    await fleet.api('POST', `/api/operator-queue/${id}/respond`, { answer: 'main' });
    await item('Which branch?').getByRole('button', { name: /^next/ }).click();
    await item('Which branch?').getByText('answered already by admin').waitFor();
    await page.unroute(stale);
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    await section().waitFor({ state: 'detached' });
    expect(await stored(id!)).toMatchObject({ answer: 'main' });
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 375, height: 740 });
    await signIn(fleet, page);
    await asks(
      { title: 'Which of these very long named branches?', options: ['a-branch-with-a-long-name', 'x'.repeat(190)] },
      { kind: 'approval', title: 'Push to main' },
    );
    await item('Push to main')
      .getByRole('button', { name: /^Approve/ })
      .waitFor();
    expect(await wide()).toBe(false);
  });
});
