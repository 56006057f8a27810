/**
 * 1,000 agents and 100,000 executions on the page: the store is filled by its own verbs, the browser scrolls for real, and its own
 * trace of long tasks is what is asserted. The bound is a person's sense of a hitch (200 ms), four times what a frame may take on
 * this kind of machine; the rows that are in the page are counted, too, which no speed changes.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commit } from '../../src/record/commit.ts';
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
import { anEnqueue } from '../support/rows.ts';

const title = noChromium ? `the pages at scale (skipped: there is no ${chromiumPath})` : 'the pages at scale';
const agentsMany = 1_000;
const perAgent = 100;
const hitchMs = 200;

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    [built, browser] = await Promise.all([buildPage(), openBrowser()]);
    fleet = await serveFleet(built.dir);
    const { kernel } = fleet.deps;
    for (let i = 0; i < agentsMany; i++) {
      const agent = await fleet.agent(`agent-${String(i).padStart(4, '0')}`);
      await Promise.all(
        Array.from({ length: perAgent }, (_, n) =>
          commit(
            fleet.deps,
            'enqueue',
            anEnqueue(
              { id: kernel.ids.next(kernel.clock.now()), agent_id: agent.id },
              { agent_name: agent.name, message: `Work number ${n} of ${agent.name}` },
            ),
          ),
        ),
      );
      // All but those of the last agents end: a history, and a queue of five thousand.
      if (i < agentsMany - 50) await commit(fleet.deps, 'clear_queue', { agent_id: agent.id, by: 'user:test' });
    }
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(30_000);
    complaints = complaintsOf(page);
    await signIn(fleet, page);
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.end();
    built?.remove();
  });

  /** Walks down by the wheel, screen by screen, and gives the longest task the browser saw meanwhile. */
  const scroll = async (screens: number): Promise<number> => {
    await page.evaluate(() => {
      const seen: number[] = [];
      new PerformanceObserver((list) => {
        for (const e of list.getEntries()) seen.push(e.duration);
      }).observe({ type: 'longtask' });
      Object.assign(window, { longTasks: seen });
    });
    await page.mouse.move(600, 500);
    for (let i = 0; i < screens; i++) {
      await page.mouse.wheel(0, 900);
      // Two frames: the rows of this screen are drawn before the next is asked for.
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))),
      );
    }
    return page.evaluate(() => Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks));
  };
  const inPage = () => page.locator('main a.open').count();

  it('list 100,000 executions: a few dozen rows in the page, older ones as one scrolls, no hitch', async () => {
    expect((await fleet.api('GET', '/api/executions/stats')).body.total).toBe(agentsMany * perAgent);
    await page.goto(`${fleet.url}/executions`);
    await page.locator('main a.open').first().waitFor();
    const longest = await scroll(60);
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(20_000);
    expect(await inPage()).toBeLessThan(120);
    expect(longest).toBeLessThan(hitchMs);
    const texts = await page.locator('main a.open').allInnerTexts();
    expect(texts.every((t) => /^Work number \d+ of agent-\d+$/.test(t))).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('list 1,000 agents and a queue of 5,000 alike', async () => {
    await page.goto(`${fleet.url}/agents`);
    await page.locator('main a.open').first().waitFor();
    expect(await scroll(30)).toBeLessThan(hitchMs);
    expect(await inPage()).toBeLessThan(120);
    await page.goto(`${fleet.url}/queue`);
    await page.locator('main a.open').first().waitFor();
    expect(await scroll(20)).toBeLessThan(hitchMs);
    expect(await inPage()).toBeLessThan(120);
    expect(complaints).toEqual([]);
  });

  it('find one of 100,000 by its words, stretch by stretch', async () => {
    await page.goto(`${fleet.url}/executions?search=${encodeURIComponent('number 7 of agent-0003')}`);
    await page.getByRole('link', { name: 'Work number 7 of agent-0003' }).waitFor();
    expect(await inPage()).toBe(1);
  });
});
