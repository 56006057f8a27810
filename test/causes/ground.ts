/** What a row of the tables stands on: a whole runner with the real holder, scripted providers, and the real CLIs. */
import type { Cause } from '../../src/contract/causes.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import type { Verdict } from '../../src/contract/verdict.ts';
import type { GoogleRequest } from '../model-api/google.ts';
import type { OpenAiApi } from '../model-api/openai.ts';
import type { Scripted } from '../model-api/scripted.ts';
import type { ModelApi } from '../model-api/server.ts';
import type { claimedWork } from '../support/claimed-work.ts';
import type { RunnerBench } from '../support/runner-bench.ts';

export type Ask = NonNullable<Parameters<typeof claimedWork>[0]>;

export interface Ground {
  bench: RunnerBench;
  provider: ModelApi;
  openAi: OpenAiApi;
  google: Scripted<GoogleRequest>;
  /** A port of loopback on which nobody listens. */
  deadUrl: string;
  /** An https server with a certificate of its own making; null where openssl is missing. */
  selfSignedUrl: string | null;
}

/** One ending that is really made. */
export interface Ending {
  cause: Cause;
  /** How the process is brought to it. */
  how: string;
  ask(ground: Ground): Ask;
  /** While it runs. */
  meanwhile?(ground: Ground, claim: ClaimedWork): Promise<void>;
  /** What else must be in the verdict. */
  verdict?: Partial<Verdict>;
  /** Without a cgroup: the limit is held by watching. */
  bare?: true;
  /** Why it cannot be made on this machine; null when it can. */
  missing?: (ground: Ground) => string | null;
}
