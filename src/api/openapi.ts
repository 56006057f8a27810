/**
 * OpenAPI 3.1 from the zod schemas of the routes themselves. Made at the first request for it, not at start: 300 ms are all
 * a start may take. Also the check that every route says who may use it.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import { z } from 'zod';
import { errors } from '../contract/errors.ts';
import type { Need } from './route.ts';

interface KnownRoute {
  method: string;
  url: string;
  needs: Need;
  schema: RouteSchema;
}

interface RouteSchema {
  summary?: string;
  description?: string;
  tags?: readonly string[];
  hide?: boolean;
  params?: unknown;
  querystring?: unknown;
  headers?: unknown;
  body?: unknown;
  response?: unknown;
}

export type Json = { [key: string]: unknown };

/** Collects every route that is registered from here on. */
export const recordRoutes = (app: FastifyInstance): readonly KnownRoute[] => {
  const known: KnownRoute[] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    const needs = route.config?.needs;
    if (needs === undefined)
      throw new Error(`${String(route.method)} ${route.url} does not say who may use it (config.needs)`);
    for (const method of [route.method].flat())
      if (method !== 'HEAD') known.push({ method, url: route.url, needs, schema: (route.schema ?? {}) as RouteSchema });
  });
  return known;
};

const jsonSchema = (schema: unknown, io: 'input' | 'output'): Json | null => {
  if (!(schema instanceof z.ZodType)) return null;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  return rest as Json;
};

const parametersOf = (schema: unknown, where: 'path' | 'query' | 'header'): Json[] => {
  const object = jsonSchema(schema, 'input');
  if (object === null) return [];
  const required = (object.required ?? []) as string[];
  return Object.entries((object.properties ?? {}) as Record<string, Json>).map(([name, of]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: of,
  }));
};

const whoMay: Record<Need, string> = {
  anyone: 'No sign-in needed.',
  page: 'No sign-in needed.',
  signed_in: 'Any key or session.',
  read: 'People, agents and executions.',
  submit: 'Operators, owners, agents and executions.',
  view: 'People.',
  operate: 'Operators and owners.',
  own: 'Owners.',
  run: 'Runners.',
};

const responsesOf = (response: unknown): Json => {
  const out: Json = {};
  for (const [status, schema] of Object.entries((response ?? {}) as Record<string, unknown>)) {
    const of = jsonSchema(schema, 'output');
    out[status] = { description: 'Done', ...(of && { content: { 'application/json': { schema: of } } }) };
  }
  if (Object.keys(out).length === 0) out['200'] = { description: 'Done' };
  out.default = {
    description: 'Refused or failed',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  return out;
};

const operationOf = (route: KnownRoute): Json => {
  const { schema } = route;
  const body = jsonSchema(schema.body, 'input');
  return {
    ...(schema.summary && { summary: schema.summary }),
    description: [schema.description, whoMay[route.needs]].filter(Boolean).join('\n\n'),
    ...(schema.tags && { tags: schema.tags }),
    'x-needs': route.needs,
    ...(route.needs === 'anyone' && { security: [] }),
    parameters: [
      ...parametersOf(schema.params, 'path'),
      ...parametersOf(schema.querystring, 'query'),
      ...parametersOf(schema.headers, 'header'),
    ],
    ...(body && {
      requestBody: {
        required: Array.isArray(body.required) && body.required.length > 0,
        content: { 'application/json': { schema: body } },
      },
    }),
    responses: responsesOf(schema.response),
  };
};

const errorSchema = () => ({
  type: 'object',
  required: ['error', 'detail'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'retryable'],
      properties: {
        code: {
          type: 'string',
          description: `One of ${Object.keys(errors).join(', ')}; or a cause of an execution that ended.`,
        },
        message: { type: 'string' },
        retryable: { type: 'boolean' },
        retry_after_ms: { type: 'integer' },
        details: {},
      },
    },
    detail: { description: 'The message, or an object for older clients.' },
  },
});

/** Computed once, when first asked for. */
export const openApiOf = (known: readonly KnownRoute[], version: string): (() => Json) => {
  let made: Json | null = null;
  return () => {
    if (made !== null) return made;
    const paths: Record<string, Json> = {};
    for (const route of known) {
      if (route.schema.hide || route.needs === 'page') continue;
      const path = route.url.replace(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
    }
    made = {
      openapi: '3.1.0',
      info: { title: 'Drover', version, description: 'Runs a fleet of CLI coding agents.' },
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
        schemas: { Error: errorSchema() },
      },
      security: [{ bearer: [] }],
      paths,
    };
    return made;
  };
};
