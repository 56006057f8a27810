/**
 * The conventions of every route. A module is `(deps) => plugin`, listed in routes.ts. A handler is parse (zod schemas in
 * `schema`) → call one thing → present. Each route names who may use it in `config.needs`; without it the app refuses to be
 * built. A Refusal that comes back from a door is passed through `orRefuse`: value or the end of the request.
 *
 *   app.post('/api/agents/:name/start', { config: { needs: 'operate' }, schema: { params: NameParams } }, async (request) => {
 *     const agent = orRefuse(await findAgent(deps, request));
 *     ...
 *   });
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { visibleAgent } from '../admission/visible.ts';
import type { AgentRow } from '../contract/agent.ts';
import { Fault, isRefusal, type Refusal, refuse } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Deps } from '../flow/deps.ts';
import type { LoopLag } from '../kernel/loop-lag.ts';
import type { Authenticator } from './auth.ts';

/**
 * `anyone`     no sign-in.            `page`     as anyone, but 401 below /api.
 * `signed_in`  any principal.         `read`     people, agents, executions: what a fleet may see of itself.
 * `submit`     gives work: operators and owners, agents, executions.
 * `view`       people only.           `operate`  operators and owners.       `own`  owners.        `run`  a runner's key.
 */
const needs = ['anyone', 'page', 'signed_in', 'read', 'submit', 'view', 'operate', 'own', 'run'] as const;
export type Need = (typeof needs)[number];

/** What main.ts hands to `buildApp`. */
export interface AppDeps extends Deps {
  dispatcher: Dispatcher;
  /** What an execution changed in the repository at a directory of this host. It runs git, which only the runner's code may. */
  workDiff(dir: string, execution: string, ref: string): Promise<{ text: string; truncated: boolean }>;
  /** The built page (`web` beside the bundle); it may be missing. */
  pageDir: string;
}

export interface ApiDeps extends AppDeps {
  auth: Authenticator;
  lag: LoopLag;
}

export type RouteModule = (deps: ApiDeps) => FastifyPluginAsyncZod;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null only on routes that `anyone` may use. */
    principal: Principal | null;
    /** Hash of the token it came with: what a logout ends and what the page's CSRF token is bound to. */
    tokenHash: string | null;
    /** Signed in by the page's cookie: unsafe methods need the CSRF token. */
    byCookie: boolean;
  }
  interface FastifyContextConfig {
    needs?: Need;
    /** Lives as long as the client likes (SSE, long poll): a closing server does not wait for it. */
    streams?: boolean;
  }
}

export const who = (request: { principal: Principal | null }): Principal => {
  if (request.principal === null) throw new Fault('internal', 'A route that anyone may use asked who it is.');
  return request.principal;
};

/** Carries a Refusal from the handler to the one place that presents it (errors.ts). Never leaves `api/`. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export const orRefuse = <T>(value: T): Exclude<T, Refusal> => {
  if (isRefusal(value)) throw new Refused(value);
  return value as Exclude<T, Refusal>;
};

/** The same for lookups: null is the uniform 404. */
export const orNotFound = <T>(value: T | null, what: string): T => {
  if (value === null) throw new Refused(refuse('not_found', `There is no ${what} of that name or id.`));
  return value;
};

/** Of a request from anybody: a password and a name. Parsing seven megabytes holds everybody up for a tenth of a second. */
export const anonymousBytes = 16 * 1024;

/** Older clients sign in with a form; no other route takes one: a form is what another site's page can send unasked. */
export const formType = 'application/x-www-form-urlencoded';

export const NameParams = z.object({ name: z.string().max(300) });
export const IdParams = z.object({ id: z.string().max(300) });
export const MessageBody = z.object({ message: z.string() });

/** The agent a path names, as the principal may see it. */
export const findAgent = async (
  deps: Deps,
  request: { principal: Principal | null; params: { name: string } },
): Promise<AgentRow> => orNotFound(await visibleAgent(deps.store, request.params.name, who(request)), 'agent');

/** Times on the wire are ISO 8601 UTC strings. */
export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
