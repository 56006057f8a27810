/** `drover schedule`, `webhook`, `people`, `chat` and `emergency-stop` against the real app, with a runner the test plays. */
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from '../../test/support/cli.ts';
import { type Fleet, openFleet } from '../../test/support/fleet.ts';
import { verifies } from '../../test/support/verifies.ts';

let fleet: Fleet;
let env: Record<string, string>;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('writer');
  await fleet.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fleet.app.server.address() as AddressInfo;
  env = { DROVER_SERVER_URL: `http://127.0.0.1:${port}`, DROVER_TOKEN: fleet.owner };
});
afterEach(() => fleet.end());
const drover = (argv: string[], o: { stdin?: string; tty?: boolean } = {}) =>
  cli(argv, { env, now: () => fleet.clock.now(), ...o });

it(verifies('R43')('a schedule is added, shown, run by hand, switched and removed'), async () => {
  const added = await drover([
    'schedule',
    'add',
    'writer',
    'nightly',
    '0 3 * * *',
    'tidy',
    'up',
    '--timezone',
    'Europe/Berlin',
  ]);
  expect([added.code, added.out]).toEqual([0, 'nightly of writer: next 2025-10-10 01:00:00 UTC.\n']);
  const bad = await drover(['schedule', 'add', 'writer', 'bad', 'whenever', 'x']);
  expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('cron_expression')]);
  expect((await drover(['schedule'])).out).toMatch(/writer +nightly +0 3 \* \* \* +Europe\/Berlin/);
  expect((await drover(['schedule', 'show', 'writer', 'nightly'])).out).toContain('2025-10-10 03:00:00');
  const id = (await drover(['schedule', 'run', 'writer', 'nightly'])).out.trim();
  expect(await fleet.row(id)).toMatchObject({ message: 'tidy up', triggered_by: 'manual' });
  expect((await drover(['schedule', 'history', 'writer', 'nightly'])).out).toMatch(/by hand\) +queued/);
  expect((await drover(['schedule', 'off', 'writer', 'nightly'])).out).toBe('nightly is off.\n');
  expect((await drover(['schedule', 'on', 'writer', 'nightly', '--json'])).json()).toMatchObject([{ enabled: true }]);
  await drover(['schedule', 'pause']);
  expect((await drover(['schedule'])).err).toContain('held');
  await drover(['schedule', 'resume']);
  expect((await drover(['schedule', 'rm', 'writer', 'nightly'])).code).toBe(0);
  expect((await drover(['schedule', 'show', 'writer', 'nightly'])).code).toBe(9);
});

it('a webhook is made, listed and removed; its secret comes on stdin', async () => {
  const made = await drover(['webhook', 'add', 'writer', 'deploy', 'look', '--secret-from-stdin'], {
    stdin: 'a-secret-of-sixteen\n',
  });
  const address = /^POST (\S+)\n$/.exec(made.out)?.[1] ?? '';
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/webhooks\/drw_/);
  // Nobody signed the call: whoever holds the address still reaches the right place.
  expect((await fetch(address, { method: 'POST' })).status).toBe(401);
  expect(made.err).toContain('on this machine alone');
  expect((await drover(['webhook', 'ls', 'writer'])).out).toMatch(/deploy +on +yes/);
  expect((await drover(['webhook', 'add', 'writer', 'other'])).code).toBe(2);
  expect((await drover(['webhook', 'rm', 'writer', 'deploy'])).code).toBe(0);
  expect((await drover(['webhook', 'rm', 'writer', 'deploy'])).code).toBe(9);
});

it('a key is made, alone on stdout, listed, and ended by its name, its id or itself', async () => {
  const key = async (...argv: string[]) => (await drover(['keys', 'add', ...argv])).out.trim();
  const [mine, agents] = [await key('ci', '--description', 'nightly'), await key('bot', '--agent', 'writer')];
  expect(mine).toMatch(/^drover_\S+$/);
  const asKey = (DROVER_TOKEN: string, ...argv: string[]) => cli(argv, { env: { ...env, DROVER_TOKEN } });
  expect((await asKey(mine, 'people')).code).toBe(0);
  expect((await asKey(agents, 'people')).code).toBe(4);
  const listed = (await drover(['keys'])).out;
  expect(listed).toMatch(/ci +drover_\S+… +a person +works .*nightly/);
  expect(listed).toMatch(/bot +drover_\S+… +agent writer +works/);
  expect(listed).not.toContain(mine);

  expect((await drover(['keys', 'revoke', 'ci'])).out).toBe('Key ci is revoked.\n');
  expect((await asKey(mine, 'people')).code).toBe(4);
  expect((await drover(['keys', 'ls', '--json'])).json()[0]).toMatchObject([{ name: 'bot' }]);
  expect((await drover(['keys', 'ls', '--all'])).out).toMatch(/ci .* revoked/);
  const again = await drover(['keys', 'revoke', 'ci']);
  expect([again.code, again.err]).toEqual([9, expect.stringContaining('drover keys ls --all')]);

  await key('bot');
  const both = await drover(['keys', 'revoke', 'bot']);
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('2 keys are named "bot"')]);
  expect((await drover(['keys', 'rm', agents])).code).toBe(0);
  expect((await drover(['keys', 'revoke', 'bot'])).code).toBe(0);
  expect((await drover(['keys', 'add', 'x', '--agent', 'nobody'])).code).toBe(9);
  expect((await drover(['keys', 'revoke', 'nope', '--json'])).err).toMatch(/^\{"error":\{"code":"not_found"/);
});

it('people are invited, given a role and removed', async () => {
  const invited = await drover(['people', 'invite', '--role', 'viewer', '--name', 'ada', '--json']);
  const { token, url } = invited.json()[0] as { token: string; url: string };
  expect(url).toBe(`${env.DROVER_SERVER_URL}/invite#${token}`);
  await fleet.api('POST', '/api/users/invites/accept', { token, password: 'long enough' });
  expect((await drover(['people'])).out).toMatch(/ada +viewer/);
  expect((await drover(['people', 'role', 'ada', 'operator'])).out).toContain('operator');
  expect((await drover(['people', 'role', 'admin', 'viewer'])).code).toBe(4);
  expect((await drover(['people', 'rm', 'ada'])).code).toBe(0);
  expect((await drover(['people'])).out).not.toContain('ada');
});

it('a chat is one session, one turn a line', async () => {
  const talking = drover(['chat', 'writer'], { stdin: 'first\n\nsecond\n/exit\nnever\n' });
  const said: [string, string][] = [];
  for (let turn = 0; turn < 2; turn++) {
    const [work] = await fleet.until(
      () => fleet.runner.claim(1),
      (claims) => claims.length > 0,
    );
    said.push([work!.message.trim(), (await fleet.row(work!.execution_id)).session_id]);
    await fleet.runner.begin(work!);
    await fleet.runner.finish(work!, { stream: { session_id: 'cli-1', response: `answer ${turn}` } });
  }
  const r = await talking;
  expect([r.code, r.out]).toEqual([0, 'answer 0\nanswer 1\n']);
  expect(said.map(([message]) => message)).toEqual(['first', 'second']);
  expect(said[0]![1]).toBe(said[1]![1]);
});

it('the emergency stop asks first, and without a terminal wants --yes', async () => {
  expect((await drover(['emergency-stop'])).code).toBe(2);
  expect((await drover(['emergency-stop'], { tty: true, stdin: 'no\n' })).err).toContain('Nothing was done');
  expect((await fleet.api('GET', '/api/fleet/limits')).body.paused).toBe(false);
  expect((await drover(['emergency-stop'], { tty: true, stdin: 'stop\n' })).code).toBe(0);
  expect((await fleet.api('GET', '/api/fleet/limits')).body.paused).toBe(true);
  await fleet.api('POST', '/api/fleet/resume');
  expect((await drover(['emergency-stop', '--yes', '--json'])).json()).toMatchObject([{ paused: true }]);
});

it('a manifest is applied from stdin, shown as a plan first, and exported', async () => {
  const manifest = 'agents:\n  - name: echo\n    adapter: command\n    command: [cat]\n';
  expect((await drover(['apply', '-', '--dry-run'], { stdin: manifest })).out).toBe('create     agent echo\n');
  expect((await drover(['apply', '-'], { stdin: manifest })).out).toBe('create     agent echo\n');
  expect((await drover(['apply', '-'], { stdin: manifest })).out).toContain('Nothing to do');
  expect((await drover(['export'])).out).toContain('name: echo');
  const bad = await drover(['apply', '-'], { stdin: 'agents:\n  - name: echo\n    command: 5\n' });
  expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('line 3')]);
  expect((await drover(['apply', '/no/such/file'])).code).toBe(2);
});

it(
  verifies('R43')('a paused agent says what becomes of new work, and a refusal says the command that lets it in'),
  async () => {
    const paused = await drover(['pause', '--agent', 'writer']);
    expect(paused.out).toBe(
      'Agent writer takes no new work; what runs goes on, what waits is kept. To go on: drover resume --agent writer.\n',
    );
    const refused = await drover(['run', 'writer', 'hello']);
    expect([refused.code, refused.err]).toEqual([7, expect.stringContaining('drover agent start NAME')]);
    expect(refused.err).not.toContain('Start the agent.');
  },
);

it('what is not found says where its names stand, items of the inbox too', async () => {
  const missing = await drover(['inbox', 'ack', 'nope']);
  expect([missing.code, missing.err]).toEqual([9, expect.stringContaining('drover inbox')]);
});

it('a password before the first sign-in says where the first one is set', async () => {
  const early = await drover(['password'], { stdin: 'long enough' });
  expect([early.code, early.err]).toEqual([4, expect.stringContaining('Open the page')]);
});

it('costs come in one form: a spreadsheet or JSON', async () => {
  const both = await drover(['costs', '--csv', '--json']);
  expect([both.code, both.out, both.err]).toEqual([2, '', expect.stringContaining('one of them')]);
});

it.each([
  ['costs', '--from'],
  ['costs', '--to'],
  ['morning', '--since'],
])('%s names the flag whose time cannot be read: %s', async (command, flag) => {
  const wrong = await drover([command, flag, 'yesterday']);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining(`${flag} needs 24h, 7d, or a date`)]);
});
