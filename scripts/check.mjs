// `npm run check`: format, lint, types, walls and unit tests, in under a minute. The slower suites run in `npm test`.
process.argv.push('src', 'web', 'test/walls.test.ts', 'test/requirements.test.ts');
await import('./test.mjs');
