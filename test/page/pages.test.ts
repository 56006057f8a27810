/**
 * Every page as a person has it, in a real Chromium, over one fleet with something of everything: in both themes axe finds nothing
 * serious, at the width of a phone nothing is wider than the screen, and the policy of the server refuses nothing of it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { event, outOfMemory, output } from '../support/fleet.ts';
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

const title = noChromium ? `the pages (skipped: there is no ${chromiumPath})` : 'the pages';
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const planted = '<img src=x onerror="window.owned=1"> \u001b[31mred\u001b[0m \u202egnp.exe';
const long = `${'a very long message that goes on '.repeat(12)}${'x'.repeat(300)}`;

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  let addresses: Record<string, string>;

  const fresh = async (size: { width: number; height: number }) => {
    await context?.close();
    context = await browser.newContext({ viewport: size });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
    await signIn(fleet, page);
  };

  beforeAll(async () => {
    [built, browser] = await Promise.all([buildPage(), openBrowser()]);
    fleet = await serveFleet(built.dir);
    await fleet.agent('alpha', { max_parallel_tasks: 1 });
    await fleet.agent('an-agent-with-quite-a-long-name-for-a-phone', { adapter: 'claude', command: null });
    const one = async () => {
      const [work] = await fleet.until(
        () => fleet.runner.claim(1),
        (claims) => claims.length > 0,
      );
      await fleet.runner.begin(work!);
      await fleet.runner.renew([work!]);
      return work!;
    };
    const failed = await fleet.task('alpha', `${planted} ${long}`);
    await fleet.runner.finish(await one(), outOfMemory);
    const chat = (await fleet.api('POST', '/api/agents/alpha/chat', { message: 'What is new?' }, { prefer: 'wait=0' }))
      .headers['x-execution-id']!;
    const answered = await one();
    await fleet.runner.log(answered, [
      event({
        type: 'assistant',
        message: {
          content: [
            { type: 'text', text: `said ${planted}` },
            { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'make' } },
          ],
        },
      }),
      output(planted),
    ]);
    await fleet.runner.finish(answered, {
      stream: { response: `answer ${planted}`, session_id: 'cli-1' },
    });
    const runs = await fleet.task('alpha', 'runs on');
    await one();
    const waits = await fleet.task('alpha', long);
    addresses = {
      Now: '/',
      Queue: '/queue',
      Executions: '/executions',
      Agents: '/agents',
      'a failed execution': `/executions/${failed}`,
      'an answered one': `/executions/${chat}`,
      'a running one': `/executions/${runs}`,
      'a waiting one': `/executions/${waits}`,
      'an agent': '/agents/alpha',
      'its executions': '/agents/alpha/executions',
      'its schedules': '/agents/alpha/schedules',
      'its limits': '/agents/alpha/limits',
      'its permissions': '/agents/alpha/permissions',
      'its credentials': '/agents/alpha/credentials',
      'its files': '/agents/alpha/files',
      'its logs': '/agents/alpha/logs',
      'its settings': '/agents/alpha/settings',
      Settings: '/settings',
      Keys: '/keys',
      People: '/people',
      Audit: '/audit',
      Health: '/state',
      'nothing there': '/nowhere',
    };
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.end();
    built?.remove();
  });

  /** The page stands when nothing of it loads any more. */
  const visit = async (path: string) => {
    await page.goto(fleet.url + path);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('main h1').first().waitFor();
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  };

  const serious = async (): Promise<string[]> => {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(
      async () => (await (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run()) as AxeResults,
    );
    return violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary ?? ''}`).join(' | ')}`);
  };

  for (const colorScheme of ['light', 'dark'] as const)
    it(`are in the ${colorScheme} theme without anything serious that axe could find`, async () => {
      await fresh({ width: 1280, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const found: Record<string, string[]> = {};
      for (const [name, path] of Object.entries(addresses)) {
        await visit(path);
        const list = await serious();
        if (list.length > 0) found[name] = list;
      }
      expect(found).toEqual({});
      expect(complaints).toEqual([]);
    });

  it(verifies('D37')('are no wider than a phone, and show planted markup and direction marks as text'), async () => {
    await fresh({ width: 390, height: 844 });
    const wide: string[] = [];
    for (const [name, path] of Object.entries(addresses)) {
      await visit(path);
      const over = await page.evaluate(() => document.scrollingElement!.scrollWidth - innerWidth);
      if (over > 0) wide.push(`${name}: ${over} px`);
      expect(await page.evaluate(() => /[\u001b\u202e]/.test(document.body.textContent))).toBe(false);
    }
    expect(wide).toEqual([]);
    expect(await page.evaluate(() => [document.querySelectorAll('img[src="x"]').length, 'owned' in window])).toEqual([
      0,
      false,
    ]);
    expect(complaints).toEqual([]);
  });

  it('are reached by keys: g and a letter, j and k and Enter, the palette', async () => {
    await fresh({ width: 1280, height: 900 });
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor();
    await page.getByRole('link', { name: /What is new/ }).waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('href'));
    expect(focused).toBe(await page.locator('main a.open').first().getAttribute('href'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'alpha' }).waitFor();

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByRole('combobox').fill('what is');
    await palette.getByRole('option', { name: /What is new/ }).waitFor();
    await palette.getByRole('combobox').fill('quite-a-long');
    await palette.getByRole('option', { name: /an-agent-with/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /an-agent-with/ }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next and previous row').waitFor();
    await page.keyboard.press('Escape');
    // Letters belong to who types.
    await page.getByRole('textbox').first().fill('');
    await page.keyboard.type('gq?');
    expect(new URL(page.url()).pathname).toMatch(/^\/agents\//);
    expect(complaints).toEqual([]);
  });

  it.each(['now', 'audit'])('have the focus on their heading, also when the code of %s comes late', async (late) => {
    await fresh({ width: 1280, height: 900 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let asked = false;
    await page.route(new RegExp(`/assets/${late}-[^/]*\\.js$`), async (route) => {
      asked = true;
      await held;
      await route.continue();
    });
    await page.goto(fleet.url, { waitUntil: 'commit' });
    await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click();
    await page.waitForURL('**/audit');
    release();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Audit');
    expect(asked).toBe(true);
  });

  it('keep filters in the address: by state, by words of the message, and back', async () => {
    await fresh({ width: 1280, height: 900 });
    await visit('/executions');
    const rows = page.getByRole('list', { name: 'Executions, newest first' }).getByRole('listitem');
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.waitForFunction(() => document.querySelectorAll('main a.open').length === 1);
    await rows.filter({ hasText: 'Killed by the kernel: out of memory' }).waitFor();
    expect(page.url()).toContain('status=failed');
    await page.getByRole('button', { name: 'All' }).click();
    await page.getByRole('searchbox').fill('IS NEW');
    await page.waitForFunction(() => document.querySelectorAll('main a.open').length === 1);
    await rows.filter({ hasText: 'What is new?' }).waitFor();
    await page.reload();
    await rows.filter({ hasText: 'What is new?' }).waitFor();
    await page.getByRole('searchbox').fill('nobody ever wrote this');
    await page.getByText('Nothing is like that.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await rows.nth(3).waitFor();
  });

  it('write moments in the zone that was chosen', async () => {
    await fresh({ width: 1280, height: 900 });
    await visit(addresses['a failed execution']!);
    const first = page.getByRole('region', { name: 'Life' }).locator('time').first();
    await page.getByRole('button', { name: /theme, time zone/ }).click();
    await page.getByRole('menuitem', { name: 'Another zone…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Times in' });
    await dialog.getByLabel('Time zone').fill('Mars/Olympus');
    await dialog.getByText('Not a zone that this browser knows', { exact: false }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Set' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Time zone').fill('Asia/Tokyo');
    await dialog.getByRole('button', { name: 'Set' }).click();
    await page.waitForFunction(
      (e) => e?.getAttribute('title')?.endsWith('Asia/Tokyo') === true,
      await first.elementHandle(),
    );
    await page.reload();
    expect(await first.getAttribute('title')).toMatch(/Asia\/Tokyo$/);
  });

  it('change an agent: its limits with the words of the server, its instructions, whom it may call', async () => {
    await fresh({ width: 1280, height: 900 });
    await visit('/agents/alpha/limits');
    await page.getByLabel('Running at once').fill('5000');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.wrong').first().waitFor();
    await page.getByLabel('Running at once').fill('7');
    await page.getByLabel('Memory').fill('512m');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The limits are set.', { exact: false }).waitFor();
    expect((await fleet.api('GET', '/api/agents/alpha')).body).toMatchObject({
      limits: { max_parallel_tasks: { value: 7 } },
      resources: { memory_bytes: 512 * 1024 ** 2 },
    });
    await visit('/agents/alpha/permissions');
    await page.getByRole('checkbox').first().uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('alpha may call nobody.').waitFor();
    expect((await fleet.api('GET', '/api/agents/alpha/permissions')).body.permitted_agents).toEqual([]);
    await visit('/agents/alpha/settings');
    await page.getByLabel('Environment').fill('ANTHROPIC_API_KEY=x');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.wrong').first().waitFor();
    await page.getByLabel('Environment').fill('GREETING=hello there');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: false }).waitFor();
    expect((await fleet.api('GET', '/api/agents/alpha')).body.env).toEqual({ GREETING: 'hello there' });
  });

  it('go on from an execution: run again, continue as a chat whose turn is written as it comes', async () => {
    await fresh({ width: 1280, height: 900 });
    await visit(addresses['a failed execution']!);
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('waiting for', { exact: false }).first().waitFor();
    const again = new URL(page.url()).pathname.split('/').at(-1)!;
    expect((await fleet.row(again)).message).toBe(`${planted} ${long}`);
    await fleet.api('POST', `/api/executions/${again}/terminate`, {});

    await visit(addresses['an answered one']!);
    await page.getByRole('link', { name: 'To the chat' }).click();
    await page.getByRole('region', { name: 'Conversation', exact: true }).getByText('What is new?').waitFor();
    await page.getByLabel('To alpha').fill('And then?');
    await page.keyboard.press('Control+Enter');
    const turn = page.getByRole('listitem').filter({ hasText: 'And then?' });
    await turn.getByText('waits for its turn').waitFor();
    const { session_id } = await fleet.row(addresses['an answered one']!.split('/').at(-1)!);
    const { executions } = (await fleet.api('GET', '/api/executions?status=queued')).body;
    expect(executions.find((e: { message: string }) => e.message === 'And then?').session_id).toBe(session_id);
  });
});
