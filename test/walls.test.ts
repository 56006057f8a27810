import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachNode, isTest, programsIn, readProgram } from './support/sources.ts';
import { homes, layers } from './walls.ts';

const src = resolve('src');
const web = resolve('web/src');

/** `contract/agent.ts`, `web/app.tsx`: the name by which walls.ts speaks of a file. */
const nameOf = (file: string): string => (file.startsWith(web) ? `web/${relative(web, file)}` : relative(src, file));

const layerOf = (name: string): string | undefined =>
  Object.keys(layers)
    .filter((l) => name === l || name.startsWith(`${l}/`))
    .sort((a, b) => b.length - a.length)[0];

const breaches = (name: string, file: string, text?: string): string[] => {
  const found: string[] = [];
  const layer = layerOf(name);
  if (layer === undefined) return [`${name}: belongs to no layer`];
  const may = layers[layer]!;
  const { imports, tree } = readProgram(file, text);
  for (const from of new Set(imports.map((i) => i.from))) {
    const home = homes[from as keyof typeof homes];
    if (home && !home.some((h) => name.startsWith(h))) found.push(`${name}: imports ${from}`);
    if (!from.startsWith('/')) continue;
    const target = nameOf(from);
    const to = layerOf(target);
    if (to === layer || may.includes('*') || (to !== undefined && may.includes(to)) || may.includes(target)) continue;
    found.push(`${name}: imports ${target}`);
  }
  eachNode(tree, (node) => {
    const n = node as {
      type?: string;
      object?: { name?: string };
      property?: { name?: string };
      callee?: { type?: string; name?: string };
    };
    const used =
      n.type === 'MemberExpression'
        ? `${n.object?.name}.${n.property?.name}`
        : n.type === 'CallExpression' && n.callee?.type === 'Identifier'
          ? n.callee.name
          : undefined;
    const home = used === undefined ? undefined : homes[used as keyof typeof homes];
    if (home && !home.some((h) => name.startsWith(h))) found.push(`${name}: uses ${used}`);
  });
  return found;
};

describe('the walls', () => {
  it('hold in every file', () => {
    const files = programsIn('src', 'web/src').filter((f) => !isTest(f));
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap((f) => breaches(nameOf(f), f))).toEqual([]);
  });

  it('find each planted breach', () => {
    const at = (name: string, text: string) => breaches(name, join(src, name), text);
    expect(at('contract/x.ts', "import { a } from '../store/store.ts';")).toEqual([
      'contract/x.ts: imports store/store.ts',
    ]);
    expect(at('outcome/x.ts', "export * from '../store/store.ts';")).toEqual(['outcome/x.ts: imports store/store.ts']);
    expect(at('api/x.ts', "import { spawn } from 'node:child_process';")).toEqual([
      'api/x.ts: imports node:child_process',
    ]);
    expect(at('api/x.ts', 'const k = process.env.HOME;')).toEqual(['api/x.ts: uses process.env']);
    expect(at('flow/x.ts', 'setTimeout(() => {}, 1);')).toEqual(['flow/x.ts: uses setTimeout']);
    expect(at('flow/x.ts', 'const t = Date.now();')).toEqual(['flow/x.ts: uses Date.now']);
    expect(at('holder/x.ts', "import type { A } from '../contract/agent.ts';")).toEqual([
      'holder/x.ts: imports contract/agent.ts',
    ]);
    expect(at('flow/x.ts', "const m = await import('../dispatch/dispatcher.ts');")).toEqual([
      'flow/x.ts: imports dispatch/dispatcher.ts',
    ]);
  });
});
