import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { truthPage } from '../scripts/truth.ts';
import { verifies } from './support/verifies.ts';

describe('docs/truth.md', () => {
  const page = readFileSync('docs/truth.md', 'utf8');
  it(verifies('R35', 'R36')('is what the script says today (npm run truth writes it)'), () => {
    expect(page).toBe(truthPage());
  });

  it(verifies('R36')('shows no false switch and none missed, and every cause right'), () => {
    const given = page.slice(0, page.indexOf('## Further rows'));
    expect(given).toMatch(/\| Drover \| 47 \| 0 \| 0 \| 100\.0 % \| 100\.0 % \|/);
    expect(given).toMatch(/\| all \| 243 \| 100\.0 % \| 100\.0 % \|/);
    expect(given).toContain('Of these rows none is judged wrongly.');
  });
});
