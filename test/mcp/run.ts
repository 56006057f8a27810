/**
 * `npm run mcp-conformance`: the official conformance suite of the Model Context Protocol against the bundle. Its packages are installed
 * beside this file the first time. It knows no tokens, so a small proxy on loopback adds the owner's to what it sends.
 *
 * Of its scenarios those that look at any server are run. The rest call tools, prompts and resources that only the suite's own
 * reference server has, or resume streams by session (Drover keeps none). `dns-rebinding-protection` supposes a server that asks
 * for no token: Drover takes a bearer token alone here, which no page of a browser has.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { install, node } from '../support/installation.ts';

const scenarios = ['server-initialize', 'ping', 'tools-list', 'tools-call-error'];

const here = import.meta.dirname;
if (!existsSync(join(here, 'node_modules')))
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, stdio: 'inherit' });
const suite = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

const drover = await install();
const proxy = http.createServer((asked, answer) => {
  const headers = { ...asked.headers, authorization: `Bearer ${drover.token}` };
  const onward = http.request(new URL(asked.url ?? '/', drover.url), { method: asked.method, headers }, (told) => {
    answer.writeHead(told.statusCode ?? 502, told.headers);
    told.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  asked.pipe(onward);
});
await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;

let failed = 0;
for (const scenario of scenarios) {
  const child = spawn(node, [suite, 'server', '--url', url, '--scenario', scenario], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const said = await text(child.stdout);
  const ok = (await ended) === 0;
  if (!ok) failed += 1;
  process.stdout.write(ok ? `ok      ${scenario}\n` : `FAILED  ${scenario}\n${said}\n`);
}
proxy.close();
await drover.end();
process.exit(failed === 0 ? 0 : 1);
