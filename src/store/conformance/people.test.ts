import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../open.ts';
import { peopleConformance } from './people.ts';

peopleConformance(async () => {
  const home = mkdtempSync(join(tmpdir(), 'drover-people-'));
  const store = await openStore({ home });
  return {
    store,
    end: async () => {
      await store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
});
