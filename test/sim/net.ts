/**
 * The line between hosts, people and the server: every message, there and back, waits until a step of the history delivers,
 * loses or doubles it. A question whose answer is lost was answered all the same; a server that dies breaks its open ones.
 */
import type { Server } from './server.ts';

/** The line broke: whether the question arrived is not known. */
class Lost extends Error {}

interface Message {
  about: string;
  from: string;
  state: 'out' | 'asked' | 'back';
  /** Null: an event on the host itself, which only takes its time. */
  ask: ((server: Server, signal: AbortSignal) => Promise<unknown>) | null;
  line: AbortController;
  answer: { ok: boolean; value: unknown } | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface Net {
  send<T>(from: string, about: string, ask: (server: Server, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** A step on the host itself: between two things anything may happen. */
  local(from: string, about: string): Promise<void>;
  /** Messages that a step can do something with. */
  moving(): number;
  deliver(n: number): void;
  lose(n: number): void;
  /** The same question is asked twice; the second answer is nobody's. */
  double(n: number): void;
  /** The server has died: open questions break. */
  broken(): void;
  /** Who asked is gone: nothing of it is delivered any more. */
  forget(from: string): void;
  /** Nobody reaches anybody there. */
  cut: Set<string>;
}

export const createNet = (server: () => Server | null): Net => {
  let all: Message[] = [];
  const cut = new Set<string>();
  const done = (m: Message) => {
    all = all.filter((o) => o !== m);
  };
  const moves = () => all.filter((m) => m.state !== 'asked' && !(m.ask !== null && cut.has(m.from)));
  const at = (n: number) => {
    const can = moves();
    return can.length === 0 ? undefined : can[n % can.length];
  };
  const ask = (m: Message, s: Server) =>
    m.ask!(s, m.line.signal).then(
      (value) => ({ ok: true, value }),
      (value: unknown) => ({ ok: false, value }),
    );

  const net: Net = {
    cut,
    send: (from, about, question) =>
      new Promise<never>((resolve, reject) => {
        all.push({
          about,
          from,
          state: 'out',
          ask: question,
          line: new AbortController(),
          answer: null,
          resolve: resolve as (v: unknown) => void,
          reject,
        });
      }),
    local: (from, about) =>
      new Promise<void>((resolve, reject) => {
        const line = new AbortController();
        all.push({ about, from, state: 'out', ask: null, line, answer: null, resolve: () => resolve(), reject });
      }),
    moving: () => moves().length,
    deliver(n) {
      const m = at(n);
      if (!m) return;
      if (m.ask === null) {
        done(m);
        return m.resolve(undefined);
      }
      if (m.state === 'back') {
        done(m);
        return m.answer!.ok ? m.resolve(m.answer!.value) : m.reject(m.answer!.value);
      }
      const s = server();
      if (s === null) {
        done(m);
        return m.reject(new Lost(m.about));
      }
      m.state = 'asked';
      void ask(m, s).then((answer) => {
        m.answer = answer;
        m.state = 'back';
      });
    },
    lose(n) {
      const m = at(n);
      if (!m || m.ask === null) return;
      done(m);
      m.line.abort(new Lost(m.about));
      m.reject(new Lost(m.about));
    },
    double(n) {
      const m = at(n);
      const s = server();
      if (m?.ask && m.state === 'out' && s !== null) void ask(m, s);
    },
    broken() {
      for (const m of all.filter((o) => o.state === 'asked')) {
        done(m);
        m.reject(new Lost(m.about));
      }
    },
    forget(from) {
      for (const m of all.filter((o) => o.from === from)) {
        done(m);
        // What it asked goes on at the server; its line is closed there.
        m.line.abort(new Lost(m.about));
      }
    },
  };
  return net;
};
