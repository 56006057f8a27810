/**
 * `/openapi.json`, and `/docs`: the same as a page made on the server, without scripts, so that it lives under the strict
 * policy of page.ts and costs nothing at start.
 */
import helmet from '@fastify/helmet';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Json } from '../openapi.ts';
import { pagePolicy } from './page.ts';

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

interface Operation {
  summary?: string;
  description: string;
  tags?: string[];
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: { 'application/json': { schema: Json } } };
  responses: Record<string, { content?: { 'application/json': { schema: Json } } }>;
}

const schemaBlock = (title: string, schema: Json | undefined): string =>
  schema === undefined
    ? ''
    : `<details><summary>${escapeHtml(title)}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`;

const operationBlock = (method: string, path: string, o: Operation): string => {
  const parameters = o.parameters.map(
    (p) => `<code>${escapeHtml(p.name)}</code> (${p.in}${p.required ? '' : ', optional'})`,
  );
  const responses = Object.entries(o.responses)
    .filter(([status]) => status !== 'default')
    .map(([status, r]) => schemaBlock(`${status}`, r.content?.['application/json'].schema))
    .join('');
  return `<article><h3><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml([o.summary, o.description].filter(Boolean).join('. ')).replaceAll('\n\n', ' ')}</p>
${parameters.length > 0 ? `<p>${parameters.join(', ')}</p>` : ''}${schemaBlock('Body', o.requestBody?.content['application/json'].schema)}${responses}</article>`;
};

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1f23;background:#fff}
@media(prefers-color-scheme:dark){body{color:#e4e6ea;background:#15171a}article{border-color:#33373d}pre{background:#1e2126}}
article{border-top:1px solid #d9dce1;padding:.6rem 0}h3{margin:0;font-size:1rem}h3 b{display:inline-block;min-width:4.2rem}
pre{overflow:auto;background:#f3f4f6;padding:.6rem;border-radius:6px}p{margin:.3rem 0}summary{cursor:pointer}`;

const docsHtml = (document: Json): string => {
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Operation>>))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? 'Other';
      groups.set(tag, [...(groups.get(tag) ?? []), operationBlock(method, path, operation)]);
    }
  const sections = [...groups].map(([tag, blocks]) => `<h2>${escapeHtml(tag)}</h2>${blocks.join('\n')}`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Drover: HTTP API</title><link rel="stylesheet" href="/docs/style.css"></head><body><h1>Drover: HTTP API</h1>
<p>The same as OpenAPI 3.1: <a href="/openapi.json">/openapi.json</a>. Send <code>Authorization: Bearer</code> with a session token or an API key.</p>
${sections.join('\n')}</body></html>`;
};

export const docsPage =
  (document: () => Json): FastifyPluginAsyncZod =>
  async (app) => {
    const config = { needs: 'anyone' as const };
    await app.register(helmet, pagePolicy);
    app.get('/openapi.json', { config, schema: { hide: true } }, async () => document());
    app.get('/docs', { config, schema: { hide: true } }, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(docsHtml(document())),
    );
    app.get('/docs/style.css', { config, schema: { hide: true } }, async (_request, reply) =>
      reply.type('text/css; charset=utf-8').send(style),
    );
  };
