/** Who asks. An agent or an execution never has its owner's rights. */
export const roles = ['owner', 'operator', 'viewer'] as const;
export type Role = (typeof roles)[number];

export type Principal =
  | { kind: 'user'; id: string; name: string; role: Role }
  | { kind: 'agent'; agentId: string; name: string }
  | { kind: 'execution'; executionId: string; token: string; agentId: string; name: string }
  | { kind: 'runner'; id: string }
  | { kind: 'system'; id: string; name: string };

/** The scope of idempotency keys and the name in the audit: `user:ID`, `agent:ID`, ... */
export const principalScope = (p: Principal): string =>
  p.kind === 'agent'
    ? `agent:${p.agentId}`
    : p.kind === 'execution'
      ? `execution:${p.executionId}`
      : `${p.kind}:${p.id}`;

/** What an attempt's process calls with: it names its own execution, and the attempt's token proves it. */
const executionPrefix = 'drx_';
export const executionBearer = (executionId: string, token: string): string =>
  `${executionPrefix}${executionId}.${token}`;
export const parseExecutionBearer = (bearer: string): { executionId: string; token: string } | null => {
  const m = /^drx_([0-9a-z]{1,64})\.([\w-]{1,128})$/.exec(bearer);
  return m ? { executionId: m[1]!, token: m[2]! } : null;
};
