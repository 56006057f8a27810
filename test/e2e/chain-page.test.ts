/** A chain as a person sees it on the page of any of its runs: who called whom, who waits for whom now, and what it all costs. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
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

const title = noChromium ? `the chain on the page (skipped: there is no ${chromiumPath})` : 'the chain on the page';

describe.skipIf(noChromium)(title, () => {
  let built: Awaited<ReturnType<typeof buildPage>>;
  let browser: Browser;
  let fleet: ServedFleet;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    built = await buildPage();
    browser = await openBrowser();
    fleet = await serveFleet(built.dir);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(20_000);
    complaints = complaintsOf(page);
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.end();
    built?.remove();
  });

  const next = async (): Promise<ClaimedWork> => {
    const [work] = await fleet.until(
      () => fleet.runner.claim(1),
      (w) => w.length > 0,
    );
    await fleet.runner.begin(work!);
    return work!;
  };
  const call = (from: ClaimedWork, agent: string) =>
    fleet.api(
      'POST',
      `/api/agents/${agent}/task`,
      { message: 'help' },
      { authorization: `Bearer ${executionBearer(from.execution_id, from.token)}` },
    );
  const spent = (usd: number) => ({ stream: { response: 'said', cost_usd: usd } });

  it(verifies('R17')('names who waits for whom, leads from run to run, and sums the cost'), async () => {
    for (const name of ['lead', 'writer', 'tester']) await fleet.agent(name);
    await fleet.task('lead', 'begin');
    const top = await next();
    const answer = call(top, 'writer');
    const middle = await next();
    const below = call(middle, 'tester');
    const last = await next();
    await signIn(fleet, page, `/executions/${top.execution_id}`);
    const chain = page.getByRole('region', { name: 'Chain' });
    const rows = chain.getByRole('listitem');
    await rows.nth(2).waitFor();
    expect((await rows.allInnerTexts()).map((t) => t.replace(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/lead waits for writer$/),
      expect.stringMatching(/writer waits for tester$/),
      expect.stringMatching(/tester running$/),
    ]);
    expect(await rows.nth(0).getAttribute('aria-current')).toBe('true');
    await chain.getByText('3 runs, 3 open', { exact: false }).waitFor();

    await fleet.runner.finish(last, spent(0.25));
    await below;
    await fleet.runner.finish(middle, spent(0.5));
    await answer;
    await fleet.runner.finish(top, spent(1));
    await chain.getByText(/3 runs, all ended, .*1\.75/).waitFor();
    await chain.getByRole('link', { name: 'tester' }).click();
    await page.waitForURL(`**/executions/${last.execution_id}`);
    await page.getByRole('region', { name: 'Chain' }).locator('[aria-current]').getByText('tester').waitFor();
    expect(complaints).toEqual([]);
  });
});
