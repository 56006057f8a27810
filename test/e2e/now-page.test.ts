/**
 * The page "Now" as a person has it: the built page in a real Chromium, the real app and store behind it, a runner that the
 * test plays. Without Chromium it is skipped, and says so.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { event, outOfMemory, output } from '../support/fleet.ts';
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

const title = noChromium ? `the page Now (skipped: there is no ${chromiumPath})` : 'the page Now';

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

  const open = async (size = { width: 1280, height: 900 }) => {
    fleet = await serveFleet(built.dir);
    page = await browser.newPage({ viewport: size });
    // Below the bound of a test, so that a failure names what was not there.
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
  };
  afterEach(async () => {
    await page.close();
    await fleet.end();
    // The page lives under a policy that allows nothing inline: a breach would be here.
    expect(complaints).toEqual([]);
  });

  const section = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) });
  const rowOf = (name: string, text: string) => section(name).getByRole('listitem').filter({ hasText: text });

  const claimOne = async (): Promise<ClaimedWork> => {
    const [work] = await fleet.runner.claim(1);
    await fleet.runner.begin(work!);
    await fleet.runner.renew([work!]);
    return work!;
  };

  it(
    verifies('R44')('takes the owner token at the first start, names its file, and shows what to type next'),
    async () => {
      await open();
      await page.goto(fleet.url);
      await page.getByText('owner.token').first().waitFor();
      await page.getByLabel('Owner token').fill('not the token');
      await page.getByLabel('New password').fill(password);
      await page.getByLabel('The same again').fill(password);
      await page.getByRole('button', { name: 'Set password and sign in' }).click();
      await page.getByText(/This is not the token in .*owner\.token/).waitFor();
      await page.getByLabel('Owner token').fill(fleet.owner);
      await page.getByRole('button', { name: 'Set password and sign in' }).click();
      await page.getByText('bin/drover demo', { exact: true }).waitFor();
      // The session is a cookie that scripts cannot see, and nothing else is kept but the theme.
      expect(await page.evaluate(() => [document.cookie, JSON.stringify(localStorage)])).toEqual(['', '{}']);

      await page.getByRole('button', { name: /sign out$/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Check the name and the password.').waitFor();
    },
  );

  it(
    verifies('R11')('moves without a reload: queued with its reason, running with its tool, ended with its cause'),
    async () => {
      await open();
      await fleet.agent('alpha', { max_parallel_tasks: 1 });
      await signIn(fleet, page);
      await page.evaluate(() => Object.assign(window, { sameDocument: true }));

      await fleet.task('alpha', 'first of two');
      await fleet.task('alpha', 'second of two');
      await rowOf('Waiting', 'second of two').waitFor();
      const work = await claimOne();
      await rowOf('Running', 'first of two').waitFor();
      await rowOf('Waiting', 'alpha is at its cap: 1 of 1 run · next in its lane').waitFor();
      await page.getByText('alpha is at its cap (1 of 1): 1 more waits.').waitFor();

      await fleet.runner.log(work, [
        event({
          type: 'assistant',
          message: { content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'make' } }] },
        }),
      ]);
      await rowOf('Running', 'first of two').getByText('Bash').waitFor();

      await fleet.runner.finish(work, outOfMemory);
      const ended = rowOf('Last endings', 'first of two');
      await ended.getByText('Killed by the kernel: out of memory', { exact: true }).waitFor();
      await ended
        .getByText(/limit 384 MiB, peak 384 MiB/)
        .first()
        .waitFor();
      await section('Needs you')
        .getByText(/memory/)
        .first()
        .waitFor();
      await section('Needs you')
        .getByRole('button', { name: /^Acknowledge/ })
        .click();
      await section('Needs you').waitFor({ state: 'detached' });
      expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
    },
  );

  it('shows a run: its life, its verdict with evidence, its memory against the limit, its transcript as it grows', async () => {
    await open();
    await fleet.agent('alpha');
    await signIn(fleet, page);
    const id = await fleet.task('alpha', 'eat memory');
    const work = await claimOne();
    await rowOf('Running', 'eat memory').locator('a.open').click();
    const panel = page.getByRole('main');
    await fleet.runner.log(work, [
      event({ type: 'assistant', message: { content: [{ type: 'text', text: 'I will eat it all.' }] } }),
      event({
        type: 'assistant',
        message: { content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'eat --all' } }] },
      }),
    ]);
    await panel.getByText('I will eat it all.').waitFor();
    const tool = panel.getByRole('group').filter({ hasText: 'eat --all' });
    await tool.getByText('running').waitFor();
    await fleet.runner.log(
      work,
      [
        event({
          type: 'user',
          message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'all eaten' }] },
        }),
      ],
      3,
    );
    await tool.getByText('done').waitFor();
    // Folded: its result is not in the page until it is opened.
    expect(await panel.getByText('all eaten').count()).toBe(0);
    await tool.getByText('eat --all').click();
    await panel.getByText('all eaten').waitFor();

    await fleet.runner.finish(work, outOfMemory);
    const verdict = panel.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('oom_killed · proven', { exact: false }).waitFor();
    expect(await verdict.getByRole('list', { name: 'Evidence' }).getByRole('listitem').count()).toBeGreaterThan(0);
    await panel.getByRole('meter', { name: 'Memory' }).waitFor();
    const life = await panel.getByRole('region', { name: 'Life' }).getByRole('listitem').allInnerTexts();
    expect(life.map((l) => l.replace(/^\S+\s+/, '').split(/\n| by | from /)[0])).toEqual(
      expect.arrayContaining(['Queued', 'Claimed']),
    );
    // A row of its own address: it can be sent to a colleague.
    await page.goto(`${fleet.url}/executions/${id}`);
    await page.getByRole('main').getByText('oom_killed', { exact: false }).first().waitFor();
  });

  it(verifies('D37')('shows planted markup, terminal codes and direction marks as text, everywhere'), async () => {
    await open();
    const planted = '<img src=x onerror="window.owned=1"> \u001b[31mred\u001b[0m \u202egnp.exe';
    const asText = '<img src=x onerror="window.owned=1"> red ⟦RLO⟧gnp.exe';
    await fleet.agent('alpha', { max_parallel_tasks: 1 });
    await signIn(fleet, page);
    await fleet.task('alpha', planted);
    const id = await fleet.task('alpha', `${planted} second`);
    await rowOf('Waiting', `${asText} second`).waitFor();
    const first = await claimOne();
    await rowOf('Running', asText).waitFor();
    await fleet.runner.finish(first, { stream: { response: planted } });
    await rowOf('Last endings', asText).waitFor();

    const second = await claimOne();
    await fleet.runner.log(second, [
      output(planted),
      event({ type: 'assistant', message: { content: [{ type: 'text', text: `said ${planted}` }] } }),
      event({
        type: 'assistant',
        message: { content: [{ type: 'tool_use', id: 't', name: planted, input: { command: planted } }] },
      }),
      event({ type: 'brand_new', planted }),
    ]);
    await fleet.runner.finish(second, {
      exit_code: 1,
      stream: { response: null, lines: [{ stream: 'stderr', text: planted, model_output_after: false }] },
    });
    await rowOf('Last endings', 'second').locator('a.open').click();
    const panel = page.getByRole('main');
    await panel.getByText(`said ${asText}`).waitFor();
    for (const summary of await panel.locator('summary').all()) await summary.click();
    await panel.getByText('"type": "brand_new"').waitFor();
    expect((await fleet.row(id)).message).toBe(`${planted} second`);
    expect(await page.evaluate(() => [document.querySelectorAll('img[src="x"]').length, 'owned' in window])).toEqual([
      0,
      false,
    ]);
    expect(await page.evaluate(() => /[\u001b\u202e]/.test(document.body.textContent))).toBe(false);
    // Whatever direction a text has, it keeps it to itself.
    const isolated = await panel
      .locator('.plain')
      .evaluateAll((all) => all.every((e) => /isolate/.test(getComputedStyle(e).unicodeBidi)));
    expect(isolated).toBe(true);
  });

  it('goes on after the event stream drops: it says so, and what happened meanwhile is there', async () => {
    await open();
    await fleet.agent('alpha');
    await signIn(fleet, page);
    await page.route('**/api/events*', (route) => route.abort());
    fleet.cut();
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await fleet.task('alpha', 'came while the line was down');
    expect(await section('Waiting').getByText('came while the line was down').count()).toBe(0);
    await page.unroute('**/api/events*');
    await rowOf('Waiting', 'came while the line was down').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await fleet.task('alpha', 'came after it stood again');
    await rowOf('Waiting', 'came after it stood again').waitFor();
  });

  it(
    verifies('R16', 'R25')('pauses and resumes the fleet, changes its limit, cancels what waits and what runs'),
    async () => {
      await open();
      await fleet.agent('alpha');
      await signIn(fleet, page);
      await page.getByRole('button', { name: 'Pause the fleet' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('No new work starts.', { exact: false }).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect((await fleet.api('GET', '/api/fleet/limits')).body.paused).toBe(false);
      await page.getByRole('button', { name: 'Pause the fleet' }).click();
      await dialog.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('The fleet is paused: no new work starts.', { exact: false }).waitFor();
      const waits = await fleet.task('alpha', 'waits for the fleet');
      await rowOf('Waiting', 'The fleet is paused').waitFor();
      await page.getByRole('button', { name: 'Resume the fleet' }).click();
      await dialog.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause the fleet' }).waitFor();

      await rowOf('Waiting', 'waits for the fleet')
        .getByRole('button', { name: /^Cancel/ })
        .click();
      await rowOf('Last endings', 'waits for the fleet').getByRole('img', { name: 'cancelled' }).waitFor();
      expect((await fleet.row(waits)).status).toBe('cancelled');

      const runs = await fleet.task('alpha', 'runs until told');
      await claimOne();
      await rowOf('Running', 'runs until told')
        .getByRole('button', { name: /^Cancel/ })
        .click();
      await dialog.getByRole('button', { name: 'Cancel the run' }).click();
      await rowOf('Running', 'runs until told').getByText('Stopping…').waitFor();
      // The button says it at the click already; this is the server's answer.
      await page.getByText('The run of alpha is told to stop.').waitFor();
      expect((await fleet.row(runs)).cancel_requested_at).not.toBeNull();

      await page.getByRole('button', { name: 'Change the fleet limit' }).click();
      await page.getByLabel(/Running at once in the fleet/).fill('0');
      expect(await page.getByRole('button', { name: 'Set', exact: true }).isDisabled()).toBe(true);
      await page.getByLabel(/Running at once in the fleet/).fill('5');
      await page.getByRole('button', { name: 'Set', exact: true }).click();
      await section('Fleet').getByText('1 of 5').waitFor();
      await section('Fleet').getByText('limit: set by hand').waitFor();
    },
  );

  it('adds an agent, with the words of the server at the field that is wrong, and sends it a message', async () => {
    await open();
    await signIn(fleet, page);
    await page.getByLabel('Name').fill('My Echo');
    await page.getByText('It will be called my-echo').waitFor();
    await page.getByLabel('a command').check();
    await page.getByLabel('Command', { exact: true }).fill('sh -c "cat; echo ok"');
    await page.getByLabel('Memory limit').fill('1k');
    await page.getByRole('button', { name: 'Add agent' }).click();
    await page.getByText(/a size of at least 16m/).waitFor();
    await page.getByLabel('Memory limit').fill('64m');
    await page.getByRole('button', { name: 'Add agent' }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello there');
    await page.keyboard.press('Control+Enter');
    const panel = page.getByRole('main');
    await panel.getByText('hello there', { exact: true }).waitFor();
    expect((await fleet.api('GET', '/api/agents/my-echo')).body.command).toEqual(['sh', '-c', 'cat; echo ok']);
    // The words stand on the page before the server has them.
    const executions = await fleet.until(
      async () => (await fleet.api('GET', '/api/executions')).body.executions as object[],
      (rows) => rows.length > 0,
    );
    expect(executions).toMatchObject([{ agent_name: 'my-echo', message: 'hello there', triggered_by: 'manual' }]);
  });

  it('works by keyboard alone, and gives the focus back', async () => {
    await open();
    await fleet.agent('alpha');
    await signIn(fleet, page);
    await fleet.task('alpha', 'reached by keyboard');
    const link = rowOf('Waiting', 'reached by keyboard').locator('a.open');
    await link.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('main');
    await panel.getByRole('heading', { name: 'alpha' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    await page.goBack();
    await link.waitFor();
    expect(await link.evaluate((e) => e === document.activeElement)).toBe(true);
    const ring = await rowOf('Waiting', 'reached by keyboard').evaluate((e) => getComputedStyle(e).outlineStyle);
    expect(ring).toBe('solid');
  });

  it('fits a phone: nothing wider than the screen, the run over the page, all of it reachable', async () => {
    await open({ width: 360, height: 740 });
    await fleet.agent('an-agent-with-quite-a-long-name-for-a-phone');
    await signIn(fleet, page);
    const long = `${'a very long message that goes on '.repeat(20)}${'x'.repeat(300)}`;
    await fleet.task('an-agent-with-quite-a-long-name-for-a-phone', long);
    await fleet.task('an-agent-with-quite-a-long-name-for-a-phone', long);
    await rowOf('Waiting', 'a very long message').first().waitFor();
    const work = await claimOne();
    await fleet.runner.log(work, [output('y'.repeat(2_000))]);
    await fleet.runner.finish(work, { exit_code: 3, stream: { response: null } });
    await rowOf('Last endings', 'a very long message').waitFor();
    const overflow = () => page.evaluate(() => document.scrollingElement!.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await rowOf('Last endings', 'a very long message').locator('a.open').click();
    const panel = page.getByRole('main');
    await panel.getByText('y'.repeat(2_000)).waitFor();
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog', { name: 'All pages' }).getByRole('link', { name: 'Now' }).click();
    await rowOf('Last endings', 'a very long message').waitFor();
  });

  it('follows the theme of the system and the choice of the person, over a reload', async () => {
    await open();
    await page.emulateMedia({ colorScheme: 'dark' });
    await signIn(fleet, page);
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await ground();
    await page.getByRole('button', { name: /theme, time zone/ }).click();
    await page.getByRole('menuitemradio', { name: 'Light' }).click();
    await page.waitForFunction((was) => getComputedStyle(document.documentElement).backgroundColor !== was, dark);
    const light = await ground();
    expect(light).not.toBe(dark);
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await ground()).toBe(light);
  });

  it('keeps its first load under 250 kB of compressed script, and nothing of it inline', async () => {
    await open();
    // Pages are split off: what the first load takes is the entry and what it imports at once, and the heaviest page.
    const chunks: Record<string, { file: string; isEntry?: boolean; imports?: string[] }> = JSON.parse(
      readFileSync(join(built.dir, '.vite', 'manifest.json'), 'utf8'),
    );
    const sizeOf = (names: Iterable<string>) =>
      [...names].reduce((sum, n) => sum + gzipSync(readFileSync(join(built.dir, chunks[n]!.file))).length, 0);
    const withImports = (name: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(name)) return seen;
      seen.add(name);
      for (const i of chunks[name]?.imports ?? []) withImports(i, seen);
      return seen;
    };
    const entry = withImports(Object.keys(chunks).find((n) => chunks[n]!.isEntry)!);
    const bytes = Math.max(...Object.keys(chunks).map((n) => sizeOf(withImports(n, new Set(entry)))));
    expect(bytes).toBeLessThan(250_000);
    expect(bytes).toBeGreaterThan(10_000);
    await page.goto(fleet.url);
    await page.getByLabel('Owner token').waitFor();
    expect(await page.evaluate(() => document.querySelectorAll('script:not([src]), style, [style]').length)).toBe(0);
  });
});
