/** Manifests to begin with: each is whole and can be applied as it stands. */
export const templates = [
  {
    name: 'coder',
    title: 'A coding agent in a repository',
    description:
      'Claude Code, two runs at once, each in a worktree of its own. Add workspace: the path of your repository.',
    manifest: `version: 1
agents:
  - name: coder
    adapter: claude
    permission_mode: acceptEdits
    workspace_mode: worktree
    max_parallel_tasks: 2
    allowed_tools: ["Bash(npm test:*)", "Bash(git diff:*)"]
    resources: { memory: 2g }
`,
  },
  {
    name: 'team',
    title: 'A lead that gives work to two others',
    description: 'The lead may call the writer and the reviewer; those two may call nobody.',
    manifest: `version: 1
agents:
  - name: lead
    custom_instructions: Split the task, give the parts to writer and reviewer, and put their answers together.
    permitted_agents: [writer, reviewer]
  - name: writer
    permitted_agents: []
  - name: reviewer
    permission_mode: plan
    permitted_agents: []
`,
  },
  {
    name: 'nightly',
    title: 'A job every night',
    description: 'Tidies dependencies at three in the morning; one run is made up for when the server was away.',
    manifest: `version: 1
agents:
  - name: caretaker
    schedules:
      - name: dependencies
        cron_expression: "0 3 * * *"
        timezone: UTC
        message: Update the dependencies that have safe updates, run the tests, and say what you changed.
        catch_up: once
        timeout_seconds: 3600
`,
  },
  {
    name: 'command',
    title: 'Any program as an agent',
    description: 'The message comes on stdin, what it prints is the answer. This one answers with what it was told.',
    manifest: `version: 1
agents:
  - name: echo
    adapter: command
    command: [cat]
`,
  },
] as const;
