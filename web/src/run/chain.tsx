/** Who called whom: the tree that a run belongs to, who waits for whom now, and what all of it costs. Nothing for one that stands alone. */
import { useQuery } from '@tanstack/react-query';
import type { ChainBody, ExecutionBody } from '../../../src/client/wire.ts';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';
import { RunLink } from '../parts/links.tsx';
import { Mark, Plain } from '../parts/text.tsx';
import { cost, count } from '../words/times.ts';

/** Its other members change without this run: while one of them is open, the tree is looked at again. */
const lookMs = 3_000;
/** A tree is read, not scrolled through for ever; what is above comes first. */
const shown = 60;

type Member = ChainBody['executions'][number];

const words = (chain: ChainBody, { status, waits_for }: Member): string => {
  if (waits_for.length === 0) return status;
  const names = waits_for.map((id) => chain.executions.find((e) => e.id === id)?.agent_name ?? id);
  return `waits for ${names.join(', ')}`;
};

/** Parents first, each above its own children. */
const asTree = (chain: ChainBody): Member[] => {
  const below = (parent: string | null): Member[] =>
    chain.executions.filter((e) => e.parent_execution_id === parent).flatMap((e) => [e, ...below(e.id)]);
  const top = chain.executions[0];
  return top === undefined ? [] : [top, ...below(top.id)];
};

export const Chain = ({ row }: { row: ExecutionBody }) => {
  const { data: chain } = useQuery({
    queryKey: [...keys.execution(row.id), 'chain'],
    queryFn: () => api.chain(row.id),
    refetchInterval: (query) => ((query.state.data?.open ?? 1) > 0 ? lookMs : false),
  });
  if (chain === undefined || chain.executions.length < 2) return null;
  const all = asTree(chain);
  const hidden = all.length - shown;
  return (
    <section className="part" aria-label="Chain">
      <h3>Chain</h3>
      <p className="muted">
        {count(chain.executions.length)}
        {chain.more ? ' and more' : ''} runs, {chain.open === 0 ? 'all ended' : `${count(chain.open)} open`},{' '}
        {cost(chain.cost, chain.cost_kind)} in all
      </p>
      <ul className="chain">
        {all.slice(0, shown).map((e) => (
          <li
            className="chain-member"
            key={e.id}
            data-depth={Math.min(e.depth, 12)}
            aria-current={e.id === row.id ? 'true' : undefined}
          >
            <Mark status={e.status} />{' '}
            <RunLink id={e.id}>
              <Plain text={e.agent_name} />
            </RunLink>{' '}
            <span className="muted">
              {words(chain, e)}
              {e.cost !== null && `, ${cost(e.cost, chain.cost_kind)}`}
            </span>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className="muted">{count(hidden)} more below</p>}
    </section>
  );
};
