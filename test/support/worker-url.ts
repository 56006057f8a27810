/**
 * In the place of src/store/engines/worker-url.ts while tests run (vitest.config.ts): the threads of a store are loaded from the
 * bundle that this run of the tests made of the sources.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

export const workerUrl = (name: string): URL => pathToFileURL(join(inject('threads'), `${name}.js`));
