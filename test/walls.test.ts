import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { homes, layers } from './walls.ts';

const src = resolve('src');
const web = resolve('web/src');

const filesOf = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter(
      (e) =>
        e.isFile() && /\.tsx?$/.test(e.name) && !/\.test\.tsx?$/.test(e.name) && !e.parentPath.includes('/conformance'),
    )
    .map((e) => join(e.parentPath, e.name));

/** `contract/agent.ts`, `web/app.tsx`: the name by which walls.ts speaks of a file. */
const nameOf = (file: string): string => (file.startsWith(web) ? `web/${relative(web, file)}` : relative(src, file));

const layerOf = (name: string): string | undefined =>
  Object.keys(layers)
    .filter((l) => name === l || name.startsWith(`${l}/`))
    .sort((a, b) => b.length - a.length)[0];

const breaches = (name: string, file: string, text: string): string[] => {
  const found: string[] = [];
  const layer = layerOf(name);
  if (layer === undefined) return [`${name}: belongs to no layer`];
  const may = layers[layer]!;
  const { module, program } = parseSync(file, text);
  const specifiers = [
    ...module.staticImports.map((i) => i.moduleRequest.value),
    ...module.staticExports.flatMap((e) => e.entries.flatMap((x) => (x.moduleRequest ? [x.moduleRequest.value] : []))),
    ...module.dynamicImports.map((d) => text.slice(d.moduleRequest.start + 1, d.moduleRequest.end - 1)),
  ];
  for (const s of specifiers) {
    const home = homes[s as keyof typeof homes];
    if (home && !home.some((h) => name.startsWith(h))) found.push(`${name}: imports ${s}`);
    if (!s.startsWith('.')) continue;
    const target = nameOf(resolve(dirname(file), s));
    const to = layerOf(target);
    if (to === layer || may.includes('*') || (to !== undefined && may.includes(to)) || may.includes(target)) continue;
    found.push(`${name}: imports ${target}`);
  }
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const child of node) walk(child);
      return;
    }
    if (typeof node !== 'object' || node === null) return;
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
    for (const value of Object.values(node)) walk(value);
  };
  walk(program);
  return found;
};

describe('the walls', () => {
  it('hold in every file', () => {
    const files = [...filesOf(src), ...filesOf(web)];
    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap((f) => breaches(nameOf(f), f, readFileSync(f, 'utf8')))).toEqual([]);
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
