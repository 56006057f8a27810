/**
 * The runner's side of the holder: finds it by its socket, starts one when an order needs it and none is there, and finds it
 * again after a loss. An order to spawn is repeated only to the same holder, which knows one process per id; to another one
 * it would start the work twice.
 */
import { z } from 'zod';
import { Fault } from '../../contract/errors.ts';
import { SpawnError } from '../../contract/facts.ts';
import { holderSocket } from '../../kernel/home-sockets.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { findCgroupPlace } from './cgroup-place.ts';
import { type ExitEvent, type Hello, type HolderLink, Lost, openLink } from './holder-link.ts';
import { holderEntry, startHolder, userSystemd } from './holder-start.ts';
import { readText } from './proc.ts';

const Child = z.object({ id: z.string(), pid: z.number(), start_time: z.number(), started_at: z.number() });
export type HeldChild = z.infer<typeof Child>;
const List = z.object({ children: z.array(Child), unwritten: z.array(z.string()) });
type HolderList = z.infer<typeof List>;
const Spawned = z.union([
  Child,
  z.object({ spawn_error: SpawnError.pick({ code: true, syscall: true, path: true, message: true }) }),
  z.object({ error: z.string() }),
]);
type Spawned = z.infer<typeof Spawned>;

interface SpawnRequest {
  id: string;
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  stdio: [string, string, string];
  uid?: number;
  gid?: number;
  cgroup_procs: { enter: string; leave: string }[];
  exit_file: string;
}

export interface HolderClient {
  /** Connects, starting a holder when none listens. */
  reach(): Promise<Hello>;
  spawn(request: SpawnRequest): Promise<Spawned>;
  /** False: that leader has exited. Null: no holder listens. */
  signal(id: string, signal: NodeJS.Signals): Promise<boolean | null>;
  /** Null: no holder listens. Never starts one. */
  list(): Promise<HolderList | null>;
  /** Asks it to leave; true when it does (it has no children). One that a unit of systemd keeps is not asked. */
  retire(): Promise<boolean>;
  close(): void;
}

interface HolderEvents {
  exit(event: ExitEvent): void;
  lost(): void;
}

/** deploy/systemd/drover-holder.service says so in its command line. Without it the next runner would start one in the server's unit. */
const isKept = (holder: number): boolean => (readText(`/proc/${holder}/cmdline`) ?? '').split('\0').at(-2) === 'kept';

/** One that is killed while it starts, or as soon as it stands, is not a host on which none starts (seen in chaos). */
const startTries = 3;

export const createHolderClient = (
  kernel: Kernel,
  home: string,
  events: HolderEvents,
  entry = holderEntry(),
): HolderClient => {
  const socket = holderSocket(home);
  let link: Promise<HolderLink | null> | null = null;
  let closed = false;

  const find = (): Promise<HolderLink | null> => {
    link ??= openLink(socket, kernel.clock, {
      exit: events.exit,
      closed: () => {
        link = null;
        if (!closed) events.lost();
      },
    }).then(
      (found) => {
        if (found === null) link = null;
        return found;
      },
      (error) => {
        link = null;
        throw error;
      },
    );
    return link;
  };

  /** A holder that was just killed is noticed by a question, before an order is given into the void. */
  const answers = (found: HolderLink): Promise<boolean> =>
    found.ask({ order: 'list' }).then(
      () => true,
      () => false,
    );

  const reach = async (): Promise<HolderLink> => {
    const found = await find();
    if (found && (await answers(found))) return found;
    // A cgroup of our own is worth a scope only where the plain way finds none.
    const plain = findCgroupPlace(readText('/proc/self/cgroup') ?? '') !== null || userSystemd() === null;
    const ask = { home, socket, entry };
    for (let tries = 0; tries < startTries; tries++) {
      if (!plain && !(await startHolder({ ...ask, inScope: true }, kernel)))
        await startHolder({ ...ask, inScope: false }, kernel);
      else if (plain) await startHolder({ ...ask, inScope: false }, kernel);
      const started = await find();
      if (started) return started;
    }
    throw new Fault('not_ready', `The holder does not start. See ${home}/run/holder.log.`);
  };
  // Two orders at once start one holder.
  let reaching: Promise<HolderLink> | null = null;
  const reachOnce = (): Promise<HolderLink> => {
    reaching ??= reach().finally(() => {
      reaching = null;
    });
    return reaching;
  };

  return {
    reach: async () => (await reachOnce()).hello,
    spawn: async (request) => {
      const order = { order: 'spawn', ...request };
      const first = await reachOnce();
      try {
        return Spawned.parse(await first.ask(order));
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        const again = await find();
        if (again === null || again.hello.pid !== first.hello.pid) return { error: 'holder_lost' };
        return Spawned.parse(await again.ask(order));
      }
    },
    signal: async (id, signal) => {
      try {
        const answer = await (await find())?.ask({ order: 'signal', id, signal, group: true });
        // An error (not permitted) is no proof that the leader has exited.
        return answer === undefined ? null : answer.sent !== false;
      } catch (error) {
        if (error instanceof Lost) return null;
        throw error;
      }
    },
    list: async () => {
      try {
        const answer = await (await find())?.ask({ order: 'list' });
        return answer === undefined ? null : List.parse(answer);
      } catch (error) {
        if (error instanceof Lost) return null;
        throw error;
      }
    },
    retire: async () => {
      // Asked of the one that listens now: the one before it may have been killed.
      const found = await find();
      if (found === null || isKept(found.hello.pid)) return false;
      return (await found.ask({ order: 'retire' })).retired === true;
    },
    close: () => {
      closed = true;
      void link?.then((l) => l?.close());
    },
  };
};
