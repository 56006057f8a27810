/** The project's own programs, for tests that hold rules over all of them: their files, and who imports what from whom. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Tests, and the suites that only tests run. */
export const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file) || file.includes('/conformance/');

/** Every program below these directories of the project. */
export const programsIn = (...dirs: string[]): string[] =>
  dirs.flatMap((dir) =>
    readdirSync(resolve(dir), { withFileTypes: true, recursive: true })
      .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
      .map((e) => join(e.parentPath, e.name))
      // Peers of the bench bring packages of their own.
      .filter((file) => !file.includes('node_modules')),
  );

export interface Program {
  file: string;
  text: string;
  /** The names it exports. */
  exports: string[];
  /** What it takes: a name, or `*` for all that is there. `from` is a file of ours or the name of a package. */
  imports: { from: string; name: string }[];
  tree: unknown;
}

export const readProgram = (file: string, text = readFileSync(file, 'utf8')): Program => {
  const { module, program } = parseSync(file, text);
  const target = (specifier: string) => (specifier.startsWith('.') ? resolve(dirname(file), specifier) : specifier);
  const imports: Program['imports'] = [];
  for (const i of module.staticImports) {
    const from = target(i.moduleRequest.value);
    if (i.entries.length === 0) imports.push({ from, name: '*' });
    for (const e of i.entries)
      imports.push({
        from,
        name: e.importName.kind === 'Name' ? e.importName.name! : e.importName.kind === 'Default' ? 'default' : '*',
      });
  }
  for (const d of module.dynamicImports)
    imports.push({ from: target(text.slice(d.moduleRequest.start + 1, d.moduleRequest.end - 1)), name: '*' });
  const exports: string[] = [];
  for (const e of module.staticExports)
    for (const x of e.entries) {
      exports.push(
        x.exportName.kind === 'Name' ? x.exportName.name! : x.exportName.kind === 'Default' ? 'default' : '*',
      );
      if (x.moduleRequest) imports.push({ from: target(x.moduleRequest.value), name: x.importName.name ?? '*' });
    }
  return { file, text, exports, imports, tree: program };
};

/** Calls `visit` with every node of a tree; what it returns false for is not entered. */
export const eachNode = (
  tree: unknown,
  visit: (node: Record<string, unknown> & { type?: string }) => unknown,
): void => {
  if (Array.isArray(tree)) {
    for (const child of tree) eachNode(child, visit);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  if (visit(tree as Record<string, unknown>) === false) return;
  for (const value of Object.values(tree)) eachNode(value, visit);
};
