/** One agent: how it stands, and everything of its own in one row of tabs, each with an address that can be sent on. */
import { Link, useParams } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense } from 'react';
import { ApiError } from '../../../src/client/request.ts';
import { type AgentDetail, useAgent } from '../agent/data.ts';
import { inWords } from '../api.ts';
import { TurnButton } from '../now/agents.tsx';
import { useMayEdit } from '../parts/me.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Plain } from '../parts/text.tsx';
import { plural } from '../words/times.ts';

type Tab = ComponentType<{ agent: AgentDetail }>;
const tab = (load: () => Promise<{ Tab: Tab }>): Tab => lazy(async () => ({ default: (await load()).Tab }));

const tabs: Record<string, { label: string; Tab: Tab }> = {
  chat: { label: 'Chat', Tab: tab(() => import('../agent/chat-tab.tsx')) },
  executions: { label: 'Executions', Tab: tab(() => import('../agent/runs-tab.tsx')) },
  schedules: { label: 'Schedules', Tab: tab(() => import('../agent/schedules-tab.tsx')) },
  limits: { label: 'Limits', Tab: tab(() => import('../agent/limits-tab.tsx')) },
  permissions: { label: 'Permissions', Tab: tab(() => import('../agent/permissions-tab.tsx')) },
  credentials: { label: 'Credentials', Tab: tab(() => import('../agent/credentials-tab.tsx')) },
  files: { label: 'Files', Tab: tab(() => import('../agent/files-tab.tsx')) },
  logs: { label: 'Logs', Tab: tab(() => import('../agent/logs-tab.tsx')) },
  settings: { label: 'Settings', Tab: tab(() => import('../agent/settings-tab.tsx')) },
};
const first = 'chat';

const Standing = ({ agent }: { agent: AgentDetail }) => {
  const parts = [
    agent.adapter,
    agent.model,
    `${agent.running} of ${plural(agent.max_parallel_tasks, 'place')} in use`,
    agent.queued > 0 ? `${agent.queued} waiting` : null,
    agent.waiting > 0 ? `${agent.waiting} in calls` : null,
    agent.health.reachable ? null : 'no runner reaches it',
    agent.health.credential === null ? null : `its credential: ${agent.health.credential}`,
  ].filter((p) => p !== null && p !== '');
  return (
    <>
      {agent.status === 'stopped' && <span className="chip flag">stopped</span>}
      <Plain text={parts.join(' · ')} />
    </>
  );
};

export const Page = () => {
  const { name, tab: asked } = useParams({ strict: false }) as { name: string; tab?: string };
  const mayEdit = useMayEdit();
  const agent = useAgent(name);
  const current = asked !== undefined && asked in tabs ? asked : first;
  const Shown = tabs[current]!.Tab;
  const missing = agent.error instanceof ApiError && agent.error.status === 404;
  return (
    <>
      <PageHead
        title={name}
        sub={agent.data === undefined ? undefined : <Standing agent={agent.data} />}
        actions={mayEdit && agent.data !== undefined && <TurnButton agent={agent.data} className="" />}
      />
      <nav className="tabs" aria-label={`Of ${name}`}>
        {Object.entries(tabs).map(([key, { label }]) => (
          <Link
            key={key}
            to="/agents/$name/$tab"
            params={{ name, tab: key }}
            aria-current={key === current ? 'page' : undefined}
            resetScroll={false}
          >
            {label}
          </Link>
        ))}
      </nav>
      {agent.error !== null && (
        <p className="problem" role="alert">
          {missing ? (
            <>
              There is no agent of this name.{' '}
              <Link className="link" to="/agents">
                All agents
              </Link>
            </>
          ) : (
            inWords(agent.error)
          )}
        </p>
      )}
      {agent.data === undefined ? (
        agent.error === null && <Skeleton rows={8} />
      ) : (
        <Suspense fallback={<Skeleton rows={8} />}>
          <Shown key={name} agent={agent.data} />
        </Suspense>
      )}
    </>
  );
};
