/**
 * What the parts of the process launcher share on this host: the holder and where it stands, the cgroup place found from
 * there, the agents' user, and the attempts that are looked after. A new holder may stand in another place, so the place is
 * looked for again whenever the holder is another one.
 */
import type { Kernel } from '../../kernel/kernel.ts';
import { type AgentUser, agentUser } from './agent-user.ts';
import { type CgroupPlace, findCgroupPlace } from './cgroup-place.ts';
import { createHolderClient, type HolderClient } from './holder-client.ts';
import type { Hello } from './holder-link.ts';
import type { HostLogs } from './host-kills.ts';
import { readText } from './proc.ts';
import type { Spare } from './tear-down.ts';
import { createWatched, type Watched } from './watched.ts';

export interface ProcessLauncherOptions {
  kernel: Kernel;
  /** DROVER_HOME. */
  home: string;
  /** DROVER_AGENT_USER. */
  agentUser: string | null;
  /** The holder's program, when it is not where it usually lies. */
  holderEntry?: string;
  /** Between two rungs of the stop ladder. */
  stopStepMs?: number;
  /** Null: hold runs as on a host without writable cgroups. Left out: the place is looked for. */
  cgroup?: null;
  /** Logs of the host that a test recorded. */
  logs?: HostLogs;
}

export interface LaunchHost {
  kernel: Kernel;
  home: string;
  user: AgentUser | null;
  holder: HolderClient;
  watched: Watched;
  /** Of the last holder that answered. */
  readonly hello: Hello;
  readonly place: CgroupPlace | null;
  /** Makes sure that a holder listens, and looks around when it is a new one. */
  reach(): Promise<void>;
  spare: Spare;
}

export const openLaunchHost = async (o: ProcessLauncherOptions): Promise<LaunchHost> => {
  const { kernel, home } = o;
  const user = agentUser(o.agentUser);
  const holder = createHolderClient(
    kernel,
    home,
    { exit: (event) => watched.told(event), lost: () => watched.lost() },
    o.holderEntry,
  );
  const watched = createWatched(kernel, holder);
  let hello = await holder.reach();
  let place: CgroupPlace | null = null;
  const lookAround = () => {
    place = o.cgroup === null ? null : findCgroupPlace(readText(`/proc/${hello.pid}/cgroup`) ?? '');
    kernel.log.info('the holder has the agents', {
      holder: hello.pid,
      cgroup: place?.kind ?? 'none',
      dir: place?.base,
      user: user?.name,
    });
  };
  lookAround();
  return {
    kernel,
    home,
    user,
    holder,
    watched,
    get hello() {
      return hello;
    },
    get place() {
      return place;
    },
    reach: async () => {
      const now = await holder.reach();
      if (now.pid === hello.pid) return;
      hello = now;
      lookAround();
    },
    spare: (pid) => pid === process.pid || pid === hello.pid,
  };
};
