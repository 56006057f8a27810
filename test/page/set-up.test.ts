/** Settings, keys, people and the audit in a real Chromium: what each page is for is done once, by a person's hand. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const title = noChromium ? `the set-up (skipped: there is no ${chromiumPath})` : 'the set-up';

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [built, browser] = await Promise.all([buildPage(), openBrowser()]);
    fleet = await serveFleet(built.dir);
    await fleet.agent('alpha');
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
    await signIn(fleet, page);
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.end();
    built?.remove();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  it('changes the limit of the fleet where it is shown, and says what is wrong with a bad one', async () => {
    await page.goto(`${fleet.url}/settings`);
    const field = page.getByLabel('Running at once');
    await field.fill('5');
    await page.getByRole('region', { name: 'Limits of the fleet' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('set here; at most', { exact: false }).waitFor();
    expect((await fleet.api('GET', '/api/fleet/limits')).body.agent_call_limit).toBe(5);
    await field.fill('0');
    await page.getByRole('region', { name: 'Limits of the fleet' }).getByRole('button', { name: 'Save' }).click();
    await page.locator('.field .wrong').first().waitFor();
    expect((await fleet.api('GET', '/api/fleet/limits')).body.agent_call_limit).toBe(5);
    await button('Put back').click();
  });

  it('makes a backup, and an emergency stop that is asked about first', async () => {
    await button('Back up now').click();
    await page.getByText('Copied and verified', { exact: false }).waitFor();
    await button('Emergency stop').click();
    await button('Back').click();
    expect((await fleet.api('GET', '/api/fleet/limits')).body.paused).toBe(false);
    await button('Emergency stop').click();
    await button('End everything').click();
    await button('Let the fleet go on').click();
    await page.getByRole('complementary').getByRole('button', { name: 'Pause the fleet' }).waitFor();
    expect((await fleet.api('GET', '/api/fleet/limits')).body.paused).toBe(false);
  });

  it('shows a new key once, and a revoked one is refused', async () => {
    await page.goto(`${fleet.url}/keys`);
    await page.getByLabel('Name').fill('ci');
    await button('Make key').click();
    const key = await page.locator('.once code', { hasText: 'drover_' }).textContent();
    const asked = () => fetch(`${fleet.url}/api/agents`, { headers: { authorization: `Bearer ${key}` } });
    expect((await asked()).status).toBe(200);
    await page.reload();
    await page.getByRole('button', { name: 'Revoke ci' }).waitFor();
    expect(await page.getByText(key!).count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke ci' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect((await asked()).status).toBe(401);
  });

  it(
    verifies('R44')('invites a person by a link that works once, and a viewer is shown nothing to change'),
    async () => {
      await page.goto(`${fleet.url}/people`);
      const invitations = page.getByRole('region', { name: 'Invitations' });
      await invitations.getByLabel('Role').selectOption('viewer');
      await invitations.getByRole('button', { name: 'Make a link' }).click();
      const link = (await page.locator('.once code').textContent())!;
      expect(link).toMatch(/^http.*\/invite#dri_/);

      const context = await browser.newContext();
      const other = await context.newPage();
      other.setDefaultTimeout(20_000);
      await other.goto(link);
      await other.getByLabel('Name').fill('mira');
      await other.getByLabel('Password').fill(`${password} of mira`);
      await other.getByRole('button', { name: 'Accept and sign in' }).click();
      await other.getByText('Live', { exact: true }).waitFor();
      await other.goto(`${fleet.url}/settings`);
      await other.getByLabel('Running at once').waitFor();
      expect(await other.getByRole('button', { name: 'Save' }).count()).toBe(0);
      expect(await other.getByRole('button', { name: 'Emergency stop' }).count()).toBe(0);

      const again = await context.newPage();
      await again.goto(link);
      await again.getByText('This invitation is not known, was used, or is over', { exact: false }).waitFor();
      await context.close();
      await page.goto(`${fleet.url}/people`);
      await page.getByRole('button', { name: 'Remove mira' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('mira is removed.', { exact: false }).waitFor();
    },
  );

  it('has all of it in the audit', async () => {
    await page.goto(`${fleet.url}/audit`);
    const rows = page.getByRole('list', { name: 'Changes, the newest first' });
    for (const action of ['user.delete', 'invite.accept', 'key.revoke', 'fleet.emergency_stop', 'backup.create'])
      await rows.getByText(action, { exact: true }).first().waitFor();
    await page.getByLabel('What was changed').selectOption('key');
    await page.waitForFunction(() => !document.body.textContent?.includes('user.delete'));
    await rows.getByText('key.create', { exact: true }).first().waitFor();
    // A refused invitation is a 404 that the browser reports; nothing else may be.
    expect(complaints).toEqual([]);
  });
});
