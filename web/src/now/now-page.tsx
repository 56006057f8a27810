/** The page "Now": what runs, what waits and why, how the last ones ended; beside it the fleet. One page, always live. */
import { useQueryClient } from '@tanstack/react-query';
import type { UserBody } from '../../../src/client/wire.ts';
import { useLive } from '../live/live.ts';
import { Command } from '../parts/command.tsx';
import { MayEdit } from '../parts/may-edit.ts';
import { useExecutionRoute } from '../route.ts';
import { RunPanel } from '../run/run-panel.tsx';
import { bannerOf } from '../words/reasons.ts';
import { Agents } from './agents.tsx';
import { usageOf, useAgents, useConnectedRunners, useEnded, useLimits } from './data.ts';
import { Empty } from './empty.tsx';
import { Ended } from './ended.tsx';
import { Fleet } from './fleet.tsx';
import { OperatorItems } from './operator-items.tsx';
import { Running } from './running.tsx';
import { SendMessage } from './send-message.tsx';
import { TopBar } from './top-bar.tsx';
import { Waiting } from './waiting.tsx';

const Held = () => {
  const { data: limits } = useLimits();
  const agents = useAgents();
  const runners = useConnectedRunners();
  const banner =
    limits === undefined ? null : bannerOf(limits, (agents.data ?? []).map(usageOf), runners?.length ?? null);
  if (banner === null) return null;
  return (
    <div className="banner" data-tone={banner.tone} role="status">
      <span>{banner.text}</span>
      {banner.command !== undefined && <Command text={banner.command} />}
    </div>
  );
};

export const NowPage = ({ me }: { me: UserBody }) => {
  const line = useLive(useQueryClient());
  const agents = useAgents();
  const ended = useEnded();
  const open = useExecutionRoute();
  // A viewer reads; the server would refuse the rest.
  const mayEdit = me.role !== 'viewer';
  const fresh = agents.data?.length === 0 && (ended.data?.length ?? 0) === 0;
  return (
    <MayEdit value={mayEdit}>
      <button type="button" className="skip" onClick={() => document.getElementById('work')?.focus()}>
        To the work
      </button>
      <TopBar me={me} line={line} />
      <Held />
      <div className="columns">
        <main className="column" id="work" tabIndex={-1}>
          {fresh && <Empty />}
          <OperatorItems />
          {!fresh && (
            <>
              <Running />
              <Waiting />
              <Ended />
            </>
          )}
        </main>
        <aside className="column" aria-label="Fleet">
          <Fleet />
          {mayEdit && <SendMessage />}
          <Agents />
        </aside>
      </div>
      {open !== null && <RunPanel key={open} id={open} />}
    </MayEdit>
  );
};
