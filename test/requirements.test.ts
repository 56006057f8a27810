import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drills, rules, toCome } from './requirements.ts';

const verified = (): Set<string> => {
  const ids = new Set<string>();
  for (const dir of ['src', 'test', 'web'])
    for (const e of readdirSync(dir, { withFileTypes: true, recursive: true })) {
      if (
        !e.isFile() ||
        !(/\.test\.tsx?$/.test(e.name) || e.parentPath.includes('/conformance')) ||
        e.parentPath.includes('node_modules')
      )
        continue;
      for (const call of readFileSync(join(e.parentPath, e.name), 'utf8').matchAll(/verifies\(([^)]*)\)\(/g))
        for (const id of call[1]!.matchAll(/'([RD]\d+)'/g)) ids.add(id[1]!);
    }
  return ids;
};

describe('the requirements', () => {
  const ids = verified();
  it('are each verified by a test, or listed as still to come', () => {
    expect([...rules, ...drills].filter((id) => !ids.has(id) && !(id in toCome))).toEqual([]);
  });
  it('are not listed as to come once a test verifies them', () => {
    expect(Object.keys(toCome).filter((id) => ids.has(id))).toEqual([]);
  });
  it('are the only ids that tests name', () => {
    expect([...ids].filter((id) => ![...rules, ...drills].includes(id))).toEqual([]);
  });
});
