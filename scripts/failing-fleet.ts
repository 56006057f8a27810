/**
 * The failing fleet on a port, for a person to look at: `node scripts/failing-fleet.ts [port]`. It prints the address and the
 * password, and lives until Ctrl-C: time goes on, what runs keeps running, what is cancelled ends, what has room starts. Its home is
 * a temporary one that is removed at the end.
 */
import { failTheFleet, pollFor, took } from '../test/support/failing-fleet.ts';
import { codexDown } from '../test/support/failing-runs.ts';
import { buildPage, password, serveFleet } from '../test/support/page-bench.ts';

const page = await buildPage();
const fleet = await serveFleet(page.dir, {}, Number(process.argv[2] ?? 0));
try {
  const { runner, clock } = fleet;
  clock.jump(Date.now() - took - clock.now());
  await fleet.api('POST', '/api/setup/admin-password', {
    password,
    confirm_password: password,
    setup_token: fleet.owner,
  });
  let { running } = await failTheFleet(fleet);
  const ended = new Promise<boolean>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(true));
  });
  process.stdout.write(`Failing fleet: ${fleet.url}\nName: admin\nPassword: ${password}\nCtrl-C ends it.\n`);

  /** What a runner does each second. */
  const turn = async () => {
    await clock.advance(1_000);
    const { results } = await runner.renew(running);
    const stopped = new Set(results.filter((r) => r.state !== 'ok').map((r) => r.attempt));
    for (const work of running.filter((w) => stopped.has(w.attempt)))
      await runner.finish(work, { signal: 'SIGINT', stop: { reason: 'cancel', at: clock.now(), detail: null } });
    running = running.filter((w) => !stopped.has(w.attempt));
    for (const work of await pollFor(fleet, 8, 0)) {
      await runner.begin(work);
      if (work.agent.adapter === 'codex') await runner.finish(work, codexDown(clock.now(), 1_000).facts);
      else running.push(work);
    }
  };
  const second = () => new Promise<boolean>((next) => setTimeout(() => next(false), 1_000));
  while (!(await Promise.race([ended, second()]))) await turn();
} finally {
  await fleet.end();
  page.remove();
}
