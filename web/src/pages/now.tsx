/** The page "Now": what needs a person, what runs, what waits and why, how the last ones ended; beside it the fleet. */
import { NightLine } from '../costs/night.tsx';
import { Agents } from '../now/agents.tsx';
import { useAgents, useEnded } from '../now/data.ts';
import { Empty } from '../now/empty.tsx';
import { Ended } from '../now/ended.tsx';
import { Fleet } from '../now/fleet.tsx';
import { Incidents } from '../now/incidents.tsx';
import { OperatorItems } from '../now/operator-items.tsx';
import { Running } from '../now/running.tsx';
import { SendMessage } from '../now/send-message.tsx';
import { Waiting } from '../now/waiting.tsx';
import { useMayEdit } from '../parts/me.ts';
import { PageHead } from '../parts/page-head.tsx';

export const Page = () => {
  const agents = useAgents();
  const ended = useEnded();
  const mayEdit = useMayEdit();
  const fresh = agents.data?.length === 0 && (ended.data?.length ?? 0) === 0;
  return (
    <>
      <PageHead title="Now" sub={<NightLine />} />
      <div className="columns">
        <div className="column">
          {fresh && <Empty />}
          <Incidents />
          <OperatorItems />
          {!fresh && (
            <>
              <Running />
              <Waiting />
              <Ended />
            </>
          )}
        </div>
        <aside className="column" aria-label="Fleet">
          <Fleet />
          {mayEdit && <SendMessage />}
          <Agents />
        </aside>
      </div>
    </>
  );
};
