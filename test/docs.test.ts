import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tables, withTable } from '../scripts/docs-tables.ts';

describe('the tables in docs/', () => {
  it.each(tables)('$file: $name is what the contract says (node scripts/docs-tables.ts writes it)', (t) => {
    const page = readFileSync(t.file, 'utf8');
    expect(withTable(page, t)).toBe(page);
  });
});
