/**
 * The failing fleet in a real Chromium: what a person looks for on a bad morning stands where it is looked for; a login that fell
 * away is shown with its clock and with the run that went on; what cannot be read says so in its place; a viewer changes nothing.
 * One server and one browser for all of it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { failTheFleet } from '../support/failing-fleet.ts';
import {
  buildPage,
  chromiumPath,
  complaintsOf,
  noChromium,
  openBrowser,
  password,
  type ServedFleet,
  serveFleet,
  signIn,
} from '../support/page-bench.ts';
import { verifies } from '../support/verifies.ts';

const title = noChromium ? `the failing fleet (skipped: there is no ${chromiumPath})` : 'the failing fleet';

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let ids: Awaited<ReturnType<typeof failTheFleet>>['ids'];
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [built, browser] = await Promise.all([buildPage(), openBrowser()]);
    fleet = await serveFleet(built.dir);
    ids = (await failTheFleet(fleet)).ids;
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
    await signIn(fleet, page);
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.end();
    built?.remove();
  });
  afterEach(async () => {
    await page.unrouteAll();
    expect(complaints).toEqual([]);
  });

  const region = (name: string, on = page) => on.getByRole('region', { name: new RegExp(`^${name}`) });
  const visit = async (path: string) => {
    await page.goto(fleet.url + path);
    await page.getByText('Live', { exact: true }).waitFor();
  };

  it(
    verifies(
      'R42',
      'R40',
    )('says on its first page what binds, who is down, who needs a person and what the night cost'),
    async () => {
      await visit('/');
      await page.getByText('The fleet is at its limit: 6 of 6 run, 7 wait for a slot.').waitFor();
      await region('Incidents').getByRole('heading', { name: 'openai is down' }).waitFor();
      const needs = region('Needs you');
      await needs
        .getByRole('listitem')
        .first()
        .getByRole('heading', { name: /Release 2\.4\.1 from main/ })
        .waitFor();
      await needs.getByRole('heading', { name: /nightly-audit: Killed by the kernel: out of memory/ }).waitFor();
      await needs.getByRole('heading', { name: /plan of cleo: The login was rejected/ }).waitFor();
      const { cost } = (await fleet.api('GET', '/api/morning')).body;
      expect(cost.total_usd).toBeGreaterThan(1);
      const amount = `$${cost.total_usd.toFixed(2)}`;
      await page.getByText(`The last night cost ${amount}`).waitFor();
      await page.getByRole('link', { name: 'How it went' }).click();
      await region('The last night').getByText(amount).first().waitFor();
    },
  );

  it(
    verifies('R38')(
      'shows a login that is used up with its clock, one that is rejected, and the switch of the run that went on',
    ),
    async () => {
      await visit('/credentials');
      const card = (name: string) => region('Pool plans').getByRole('listitem').filter({ hasText: name }).first();
      await card('plan of anna')
        .getByText(/good again in 2h \d+m, at \d\d:\d\d/)
        .waitFor();
      await card('plan of cleo').getByText('rejected', { exact: true }).waitFor();
      await card('plan of ben').getByText('66% used').waitFor();
      // Where something is wrong stands first.
      await page.getByText('2 of 5 cannot be used now').waitFor();
      expect(await page.getByRole('main').getByRole('heading', { level: 2 }).first().textContent()).toContain('plans');
      const switched = region('Last switches').getByRole('listitem').filter({ hasText: 'plan of anna → plan of ben' });
      await switched.getByText('used up', { exact: false }).waitFor();
      await switched.getByRole('link').click();
      await page.waitForURL((url) => url.pathname.endsWith(ids.switched));
      await region('Verdict').getByRole('heading', { name: 'Success' }).waitFor();
      // The clock goes on by itself, and at its end the next run may try it.
      await visit('/credentials');
      const { until } = (await fleet.api('GET', '/api/subscriptions')).body.find(
        (c: { name: string }) => c.name === 'plan of anna',
      );
      expect(Date.parse(until)).toBeGreaterThan(fleet.clock.now());
    },
  );

  it('lists conversations by what they began with, and makes a schedule of an agent by the one form', async () => {
    await visit('/agents/web-frontend');
    await region('Conversations')
      .getByRole('button', { name: /Cut 2\.4\.1 of the web client/ })
      .waitFor();
    await visit('/agents/nightly-audit/schedules');
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog', { name: 'A new schedule' });
    expect(await dialog.getByLabel('Agent').inputValue()).toBe('nightly-audit');
    await dialog.getByLabel('Name').fill('weekly');
    await dialog.getByLabel('When').fill('0 9 * * 1');
    await dialog.getByText('09:00', { exact: false }).first().waitFor();
    await dialog.getByLabel('Message').fill('look again');
    await dialog.getByRole('button', { name: 'Make schedule' }).click();
    await page.getByRole('main').getByRole('listitem').filter({ hasText: 'weekly' }).getByText('held').waitFor();
  });

  it('says in its place what could not be read, with its reason, on every page; and reads it as soon as it can be', async () => {
    const failing = {
      error: { code: 'internal', message: 'the database is not there', retryable: true },
      detail: 'the database is not there',
    };
    const reads = (url: URL) =>
      url.pathname.startsWith('/api/') && !/^\/api\/(events|users\/me|auth|setup|csrf|token)/.test(url.pathname);
    await context.route(reads, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 500, json: failing }) : route.continue(),
    );
    // Each page tries again for some seconds before it says so: all of them at once.
    const silent: string[] = [];
    const paths = [
      '/',
      '/inbox',
      '/queue',
      '/executions',
      '/agents',
      '/schedules',
      '/credentials',
      '/costs',
      '/keys',
      '/people',
      '/audit',
      '/state',
      '/settings',
      `/executions/${ids.oom}`,
      '/agents/api-builder',
    ];
    await Promise.all(
      paths.map(async (path) => {
        const tab = await context.newPage();
        await tab.goto(fleet.url + path);
        const said = tab.getByRole('main').getByText('the database is not there', { exact: false });
        await said
          .first()
          .waitFor()
          .catch(() => silent.push(path));
        await tab.close();
      }),
    );
    await context.unroute(reads);
    expect(silent).toEqual([]);
    await visit('/credentials');
    await region('Pool plans').waitFor();
  });

  it('stays readable while the server is away, and says that it is', async () => {
    await visit('/queue');
    await page.getByRole('list').getByText('The fleet is at its cap', { exact: false }).first().waitFor();
    await context.setOffline(true);
    fleet.cut();
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await page.getByRole('list').getByText('The fleet is at its cap', { exact: false }).first().waitFor();
    await context.setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it(verifies('R44')('shows a viewer all of it and offers nothing to change'), async () => {
    await fleet.api('POST', '/api/users', { username: 'mira', password: `${password} of mira`, role: 'viewer' });
    const other = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const seen = await other.newPage();
    seen.setDefaultTimeout(20_000);
    await seen.goto(fleet.url);
    await seen.getByLabel('Name').fill('mira');
    await seen.getByLabel('Password').fill(`${password} of mira`);
    await seen.getByRole('button', { name: 'Sign in' }).click();
    await seen.getByText('Live', { exact: true }).waitFor();
    const acts =
      /^(Cancel|Stop|Acknowledge|Answer|Pause|Change|Send|Run now|Remove|Add (agent|credential)|New|Replace|Set budget|Save|Resume|Run again|Hold)/;
    for (const path of [
      '/',
      '/inbox',
      '/queue',
      '/agents',
      '/agents/api-builder',
      '/agents/nightly-audit/schedules',
      '/agents/api-builder/limits',
      '/schedules',
      '/credentials',
      '/costs',
      '/settings',
      `/executions/${ids.runs}`,
      `/executions/${ids.oom}`,
    ]) {
      await seen.goto(fleet.url + path);
      await seen.getByText('Live', { exact: true }).waitFor();
      await seen.locator('main h1').first().waitFor();
      await seen.locator('main .skeleton').first().waitFor({ state: 'detached' });
      expect({ path, offers: await seen.getByRole('button', { name: acts }).allTextContents() }).toEqual({
        path,
        offers: [],
      });
      expect(await seen.getByRole('main').getByRole('alert').allTextContents()).toEqual([]);
    }
    await other.close();
  });

  it('carries no validator to the browser', () => {
    const assets = join(built.dir, 'assets');
    const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((name) => readFileSync(join(assets, name), 'utf8').includes('ZodError'))).toEqual([]);
  });
});
