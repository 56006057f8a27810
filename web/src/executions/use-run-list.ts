/** A list of executions by its filters: its head is live, older pages come by `loadOlder`. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { api, inWords } from '../api.ts';
import { keys } from '../live/keys.ts';
import { joinHead, joinTail, type RunList } from './run-list.ts';

export interface RunFilters {
  status?: string;
  agent?: string;
  cause?: string;
  triggered_by?: string;
  search?: string;
  order?: 'newest' | 'oldest';
}

/** Two screens of a large monitor. */
const pageSize = 80;

export const useRunList = (filters: RunFilters) => {
  const queries = useQueryClient();
  const queryKey = keys.runList(filters);
  const list = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<RunList> => {
      const head = await api.executions({ ...filters, limit: pageSize }, signal);
      return joinHead(queries.getQueryData<RunList>(queryKey), head, filters.order);
    },
  });
  const asking = useRef(false);
  const [problem, setProblem] = useState<string | null>(null);
  /** How many answers came: each may call for the next page, also one that was dropped since the list had moved. */
  const [answers, setAnswers] = useState(0);
  const next = list.data?.next ?? null;
  const key = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each answer it is another one, so that who watches the end asks again
  const loadOlder = useCallback(async () => {
    if (asking.current || next === null) return;
    asking.current = true;
    try {
      const asked = JSON.parse(key) as RunFilters;
      const tail = await api.executions({ ...asked, after: next, limit: pageSize });
      queries.setQueryData<RunList>(keys.runList(asked), (old) =>
        old?.next === next ? joinTail(old, tail, asked.order) : old,
      );
      setProblem(null);
    } catch (e) {
      setProblem(inWords(e));
    } finally {
      asking.current = false;
      setAnswers((n) => n + 1);
    }
  }, [queries, key, next, answers]);
  return {
    ...list,
    problem,
    loadOlder: next === null || problem !== null ? undefined : loadOlder,
    again: () => setProblem(null),
  };
};
