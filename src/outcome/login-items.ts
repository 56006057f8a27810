/**
 * What a person must see of logins, as values: one item per credential, pool or kind, each an episode of its own. What an ending
 * tells of its agent stands in operator-item.ts. Pure.
 */
import { causes } from '../contract/causes.ts';
import type { LoginView } from '../contract/login-view.ts';
import type { NewOperatorItem } from '../contract/operator.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';
import type { Blame } from './login.ts';

type LoginNotice = Omit<NewOperatorItem, 'id'>;

const fleet = (
  dedup_key: string,
  priority: LoginNotice['priority'],
  title: string,
  evidence: string[],
): LoginNotice => ({
  kind: 'alert',
  dedup_key,
  priority,
  title,
  evidence,
  fleet: true,
});

const names = (view: LoginView): string =>
  [...view.alike, ...view.alike_in_fleet, view.mine].map((o) => o.name).join(', ');

/** Raised with what follows from a failure on a login. */
export const loginItems = (
  verdict: Verdict,
  view: LoginView,
  agent: { name: string },
  { blame, decision }: { blame: Blame; decision: Decision },
): LoginNotice[] => {
  const said = verdict.evidence.slice(0, 3);
  if (blame === 'agent')
    return [
      {
        kind: 'alert',
        dedup_key: 'login_agent_fault',
        priority: 'high',
        title: `${agent.name}: its logins fail while they work for other agents; it was stopped`,
        evidence: [
          `${causes[verdict.cause].title} on ${names(view)}`,
          `Look at its workspace and at what its CLI is given, then start it again: POST /api/agents/${agent.name}/start`,
          ...said,
        ],
        quiet_ms: 0,
      },
    ];
  if (blame === 'incident')
    return [
      fleet(
        `logins_rejected_alike:${view.mine.kind}`,
        'high',
        `Several logins of kind ${view.mine.kind} are rejected alike`,
        [
          `affected: ${names(view)}`,
          'Something they share is the reason more likely than each of them: the provider, the account, the network, the CLI. They are not tried one after the other.',
          ...said,
        ],
      ),
    ];
  if (decision.kind === 'park' && decision.for === 'login')
    return [
      fleet(
        `credentials_exhausted:${view.pool ?? ''}:${view.mine.kind}`,
        'normal',
        `Every credential of ${view.pool === null ? `kind ${view.mine.kind}` : `pool ${view.pool}`} is used up until ${new Date(decision.until).toISOString()}`,
        [
          `Its work is put aside until then and goes on by itself. Add a credential to go on at once: drover creds add NAME --kind ${view.mine.kind}${view.pool === null ? '' : ` --pool ${view.pool}`}`,
          ...said,
        ],
      ),
    ];
  return [];
};

/** Raised when the credential comes to be rejected by it, whether or not another one took over. */
export const rejectedItem = (verdict: Verdict, view: LoginView): LoginNotice =>
  fleet(`login_rejected:${view.mine.id}`, 'high', `${view.mine.name}: ${causes[verdict.cause].title}`, [
    `Give it a new secret: printenv NAME_OF_VARIABLE | drover creds replace ${view.mine.name}`,
    ...verdict.evidence.slice(0, 3),
  ]);
