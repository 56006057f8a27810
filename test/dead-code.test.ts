import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachNode, isTest, type Program, programsIn, readProgram } from './support/sources.ts';

/** Exports that only tests use now, each with the part of the product that will. */
const toCome: Record<string, string> = {};

/** What the runner of the tests is told by path. */
const config = readFileSync(resolve('vitest.config.ts'), 'utf8');

const name = (file: string, what: string) => `${relative(resolve(), file)} ${what}`;
const ofTests = (file: string) => isTest(file) || /^(test|bench|scripts)\//.test(relative(resolve(), file));

/** How often a program names something, its declaration included; comments and texts do not count. */
const mentions = (p: Program, what: string): number => {
  let n = 0;
  eachNode(p.tree, (node) => {
    if (node.type === 'Identifier' && node.name === what) n++;
  });
  return n;
};

/** What is exported and imported by nobody; and what the product exports for tests alone and does not use itself. */
const dead = (programs: readonly Program[]): string[] => {
  const taken = new Map<string, { byProduct: boolean }>();
  for (const p of programs)
    for (const i of p.imports) {
      const key = name(i.from, i.name);
      taken.set(key, { byProduct: taken.get(key)?.byProduct === true || !ofTests(p.file) });
    }
  return programs.flatMap((p) =>
    p.exports.flatMap((exported) => {
      const own = name(p.file, exported);
      const by = taken.get(own) ?? taken.get(name(p.file, '*'));
      if (by === undefined && config.includes(`'${relative(resolve(), p.file)}'`)) return [];
      if (by === undefined) return [`${own}: nobody imports it`];
      if (by.byProduct || ofTests(p.file)) return [];
      return mentions(p, exported) > 1 ? [] : [own];
    }),
  );
};

describe('no dead code', () => {
  it('is exported: each export has somebody who imports it, and what only tests import is used by its own file', () => {
    const programs = programsIn('src', 'web/src', 'test', 'bench', 'scripts').map((file) => readProgram(file));
    expect(programs.length).toBeGreaterThan(300);
    expect(dead(programs).sort()).toEqual(Object.keys(toCome).sort());
  });

  it('is found when it is planted', () => {
    const planted = (file: string, text: string) => readProgram(resolve(file), text);
    const a = planted('src/a.ts', 'export const used = 1; export const unused = 2; export const tested = 3;');
    const b = planted('src/b.ts', "import { used } from './a.ts'; used;");
    const t = planted('src/a.test.ts', "import { tested } from './a.ts'; tested;");
    expect(dead([a, b, t])).toEqual(['src/a.ts unused: nobody imports it', 'src/a.ts tested']);
  });
});
