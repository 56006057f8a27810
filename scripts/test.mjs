// `npm test`: the gate (format, lint, types), then every test this machine can run. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { node24, root } from './node.mjs';

const node = node24();
const at = (...p) => join(root, ...p);
let failed = 0;
const gate = (what, args) => {
  const r = spawnSync(node, args, { cwd: root, stdio: 'inherit' });
  process.stdout.write(`${what}: ${r.status === 0 ? 'ok' : 'FAILED'}\n`);
  if (r.status !== 0) failed++;
};
gate('format and lint', [at('node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '.']);
gate('types', [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']);
const report = at('dist', 'test-report.json');
rmSync(report, { force: true });
const r = spawnSync(
  node,
  [
    at('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
let passed = 2 - failed;
try {
  const sum = JSON.parse(readFileSync(report, 'utf8'));
  passed += sum.numPassedTests;
  failed += sum.numFailedTests;
  // A file that fails to load has no failed test of its own.
  for (const f of sum.testResults)
    if (f.status === 'failed' && f.assertionResults.every((a) => a.status !== 'failed')) failed++;
  for (const f of sum.testResults)
    for (const a of f.assertionResults)
      if (a.status === 'pending' || a.status === 'skipped') process.stdout.write(`skipped: ${a.fullName}\n`);
} catch {
  failed++;
}
if (r.status !== 0 && failed === 0) failed++;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
