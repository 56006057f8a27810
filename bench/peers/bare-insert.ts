/**
 * The peers for accepts: the least a durable, authenticated HTTP server can do. One insert per request with synchronous=FULL,
 * answered after the commit; no validation, no events, no limits. `each`: in a transaction of its own, as it is written at first.
 * `grouped`: all requests of a turn of the event loop in one transaction, which is how Drover commits, too.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import fastify from 'fastify';

const [file, key, commits] = process.argv.slice(2);
const db = new DatabaseSync(file!);
db.exec(
  'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE work (id INTEGER PRIMARY KEY, agent TEXT, message TEXT, at INTEGER)',
);
const insert = db.prepare('INSERT INTO work (agent, message, at) VALUES (?, ?, ?)');
const hash = (t: string) => createHash('sha256').update(t).digest();
const expected = hash(`Bearer ${key}`);

let waiting: { agent: string; message: string; done: (id: number) => void }[] = [];
const flush = () => {
  const batch = waiting;
  waiting = [];
  db.exec('BEGIN IMMEDIATE');
  const ids = batch.map((w) => Number(insert.run(w.agent, w.message, Date.now()).lastInsertRowid));
  db.exec('COMMIT');
  batch.forEach((w, i) => {
    w.done(ids[i]!);
  });
};

const app = fastify();
app.post('/api/agents/:name/task', async (request, reply) => {
  if (!timingSafeEqual(hash(request.headers.authorization ?? ''), expected)) return reply.code(401).send();
  const { name } = request.params as { name: string };
  const { message } = request.body as { message: string };
  const id =
    commits === 'each'
      ? Number(insert.run(name, message, Date.now()).lastInsertRowid)
      : await new Promise<number>((done) => {
          if (waiting.push({ agent: name, message, done }) === 1) setImmediate(flush);
        });
  return reply.code(202).send({ status: 'accepted', execution_id: id, agent_name: name, message, async_mode: true });
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
