/**
 * Where an agent without a workspace of its own choosing works: `DROVER_HOME/workspaces/` and this name. The id is part of it,
 * because an agent that is deleted and made again under its name inherits nothing (drill 36); the folder itself is kept.
 */
export const ownWorkspaceName = (agent: { id: string; name: string }): string => `${agent.name}-${agent.id.slice(-6)}`;
