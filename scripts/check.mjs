// `npm run check`: format, lint, types, walls, dead code and unit tests, in under a minute. The slower suites run in `npm test`.
process.argv.push('src', 'web', ...['walls', 'dead-code', 'requirements', 'docs'].map((t) => `test/${t}.test.ts`));
await import('./test.mjs');
