/** The page starts here: theme first, so that nothing flashes, then the queries and the gate. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from '../../src/client/request.ts';
import { readServerTime } from './api.ts';
import { Gate } from './gate/gate.tsx';
import { keys } from './live/keys.ts';
import { Notices } from './parts/notices.tsx';
import { applyTheme } from './theme.ts';

applyTheme();
// Ages then count by the server's clock; without an answer they count by this one.
void readServerTime().catch(() => {});

/** Behind the events: what a lost event left stale is at most this old. */
const slowPollMs = 30_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: slowPollMs,
      refetchInterval: slowPollMs,
      refetchOnWindowFocus: 'always',
      retry: (failures, e) => failures < 2 && !(e instanceof ApiError && e.status >= 400 && e.status < 500),
    },
  },
});
// A session that ended anywhere ends the page: back to the gate.
queries.getQueryCache().subscribe((change) => {
  if (change.type !== 'updated' || change.action.type !== 'error') return;
  const { error } = change.action;
  if (error instanceof ApiError && error.status === 401) queries.setQueryData(keys.me, null);
});

createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Gate />
      <Notices />
    </QueryClientProvider>
  </StrictMode>,
);
