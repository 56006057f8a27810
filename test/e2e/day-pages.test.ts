/** The operator's day in a real Chromium: schedules, credentials, the inbox, costs; each through axe, in both themes, at phone width. */
import { readFileSync } from 'node:fs';
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

const title = noChromium ? `the pages of the day (skipped: there is no ${chromiumPath})` : 'the pages of the day';
const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

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

  const region = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) });
  const item = (text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text }).first();
  const dialog = () => page.getByRole('dialog');

  /** An execution that asks, costs and ends. */
  const asksAndEnds = async (): Promise<string> => {
    await fleet.task('writer', 'write');
    const [work] = await fleet.runner.claim(1);
    await fleet.runner.begin(work!);
    const authorization = `Bearer ${executionBearer(work!.execution_id, work!.token)}`;
    const asked = await fleet.api(
      'POST',
      '/api/operator-queue',
      { title: 'Which branch?', options: ['main', 'next'] },
      { authorization },
    );
    await fleet.runner.finish(work!, { stream: { cli: 'claude', session_id: 'cli-1', cost_usd: 1.25 } });
    return asked.body.id as string;
  };

  it(verifies('R43')('makes a schedule with its next ticks in view, and shows the tick that came'), async () => {
    await signIn(fleet, page, '/schedules');
    await page.getByText('Nothing is scheduled.', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'New schedule' }).click();
    await dialog().getByLabel('Agent').selectOption('writer');
    await dialog().getByLabel('Name', { exact: true }).fill('nightly');
    await dialog().getByLabel('In the time zone').fill('Europe/Berlin');
    await dialog().getByLabel('When').fill('61 * * * *');
    await dialog().locator('.hint .text-bad').waitFor();
    await dialog().getByLabel('When').fill('*/5 * * * *');
    await dialog()
      .getByText(/\d\d:\d[05]:00 (CET|CEST|GMT\+\d)/)
      .nth(4)
      .waitFor();
    await dialog().getByLabel('Message').fill('tidy up');
    await dialog().getByRole('button', { name: 'Make schedule' }).click();
    await item('nightly').getByText('did not tick yet').waitFor();
    await item('nightly')
      .getByText(/^History/)
      .click();
    await item('nightly').getByText('It did not tick yet', { exact: false }).waitFor();

    await fleet.clock.advance(100_000);
    // The ticker reads when it is next due and sleeps till then: time goes on in steps that leave it the time to read.
    await fleet.until(
      async () => {
        await fleet.clock.advance(1_000);
        return (await fleet.api('GET', '/api/executions')).body.executions as object[];
      },
      (rows) => rows.length > 0,
    );
    const ticks = page.getByRole('list', { name: 'Ticks of nightly' });
    await ticks.getByRole('listitem').first().waitFor();
    expect((await fleet.api('GET', '/api/executions')).body.executions).toMatchObject([
      { message: 'tidy up', triggered_by: 'schedule' },
    ]);

    await page.getByRole('button', { name: 'Hold all' }).click();
    await dialog().getByRole('button', { name: 'Hold them' }).click();
    await page.getByText('All schedules are held', { exact: false }).waitFor();
    expect((await fleet.api('GET', '/api/ops/schedules')).body.paused).toBe(true);
  });

  it('stores a credential, says what is wrong with a secret at its field, and shows its state', async () => {
    await signIn(fleet, page, '/credentials');
    await page.getByText('No credential is stored', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Add credential' }).click();
    await dialog().getByLabel('Name').fill('work plan');
    await dialog().getByLabel('Secret').fill('sk-ant-api03-not-a-plan');
    await dialog().getByLabel('Pool').fill('team');
    await dialog().getByRole('button', { name: 'Store it' }).click();
    await dialog()
      .getByText(/looks like anthropic_api_key/)
      .waitFor();
    await dialog().getByLabel('Secret').fill('sk-ant-oat01-a-plan');
    await dialog().getByRole('button', { name: 'Store it' }).click();
    await region('Pool team').getByText('work plan').first().waitFor();
    await item('work plan').getByText('not tried yet').waitFor();
    expect(await page.content()).not.toContain('sk-ant-oat01');
    await page.getByLabel('Switch by itself').click();
    await page.getByText('Runs stay with the login they began with.').waitFor();
    expect((await fleet.api('GET', '/api/subscriptions/settings/auto-switch')).body.enabled).toBe(false);
  });

  it(verifies('R42')('answers a question in the inbox, and keeps the answer among the past ones'), async () => {
    await signIn(fleet, page, '/inbox');
    await page.getByText('No agent waits for an answer.', { exact: false }).waitFor();
    const id = await asksAndEnds();
    await item('Which branch?').getByRole('button', { name: /^next/ }).click();
    await page.getByText('No agent waits for an answer.', { exact: false }).waitFor();
    expect((await fleet.api('GET', `/api/operator-queue/${id}`)).body.answer).toBe('next');
    await page.getByRole('button', { name: 'Past', exact: true }).click();
    await item('Which branch?').getByText('answered by admin').waitFor();
  });

  it('shows what runs cost, and a budget that is set', async () => {
    await asksAndEnds();
    await signIn(fleet, page, '/costs');
    await page.getByRole('img', { name: /Cost by day over 30 days: \$1\.25 in all/ }).waitFor();
    await page.getByRole('row', { name: /writer/ }).waitFor();
    await page.getByLabel('At most, $').fill('5');
    await page.getByRole('button', { name: 'Set budget' }).click();
    await region('Budgets').getByText('of $5.00').waitFor();
    expect((await fleet.api('GET', '/api/budgets')).body.budgets).toMatchObject([
      { agent_name: null, period: 'day', limit_usd: 5, spent_usd: 1.25 },
    ]);
  });

  it('has nothing serious for axe on any of these pages, in both themes, and fits a phone', async () => {
    await asksAndEnds();
    await fleet.api('POST', '/api/subscriptions', { name: 'plan', kind: 'claude_oauth', token: 'sk-ant-oat01-x' });
    await fleet.api('POST', '/api/agents/writer/schedules', { name: 's', cron_expression: '0 7 * * *', message: 'm' });
    await signIn(fleet, page);
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        for (const path of ['/inbox', '/schedules', '/credentials', '/costs']) {
          await page.goto(fleet.url + path);
          await page.getByText('Live', { exact: true }).waitFor();
          await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
          await page.evaluate(axe);
          const found = await page.evaluate(async () => {
            const { axe } = globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
            };
            const { violations } = await axe.run();
            return violations
              .filter((v) => v.impact === 'serious' || v.impact === 'critical')
              .map((v) => `${v.id}: ${v.nodes[0]?.html}`);
          });
          expect({ path, colorScheme, width, found }).toEqual({ path, colorScheme, width, found: [] });
          expect(await page.evaluate(() => document.scrollingElement!.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        }
      }
  });
});
