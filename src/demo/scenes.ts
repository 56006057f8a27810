/**
 * The five scenes of `drover demo`: the agent of each, and what it must end as. Shared by the shim that plays them and the
 * command that sets them up. The causes here are what an honest Drover finds out by itself: nothing tells it the scene.
 */

export const scenes = ['success', 'oom', 'killed', 'login', 'limit'] as const;
export type Scene = (typeof scenes)[number];

export const isScene = (text: string | null): text is Scene =>
  text !== null && (scenes as readonly string[]).includes(text);

/** The variable in the agent's `env` that picks the scene; bin/demo-claude hands it on as `--scene`. */
export const sceneEnv = 'DROVER_DEMO_SCENE';

/** The memory limit of every demo agent. Enough for the shim (about 50 MB) in all scenes but one. */
export const demoMemory = '384m';

/** What the file is called that the success edits in its workspace. */
export const demoFile = 'hello.md';
