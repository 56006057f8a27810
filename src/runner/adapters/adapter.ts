/**
 * An adapter knows one kind of agent: which program with which arguments and environment is one run of it. It starts
 * nothing. What cannot be run is a value with a reason, never an exception: the agent's sins are facts.
 */
import type { CliKind, Isolation, StreamFacts } from '../../contract/facts.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';

export const packagedClis = ['claude', 'codex', 'gemini'] as const;
export type PackagedCli = (typeof packagedClis)[number];

/** What the host offers every run. */
export interface AdapterHost {
  /** DROVER_HOME. */
  home: string;
  /** The runner's own environment, from which only the allow-list passes. */
  env: Readonly<Record<string, string | undefined>>;
  /** DROVER_CLAUDE_BIN. */
  claudeBin: string | null;
  /** The CLIs that the package brings along in development, by name: used when PATH has none. */
  packaged: Readonly<Partial<Record<PackagedCli, string>>>;
  /** A process is held by user or container, so that `bypassPermissions` cannot touch the host. */
  isolation: Isolation;
  /** Where agents call other agents; null: they call nobody. */
  serverUrl: string | null;
  /** Gives what the agent must read or write to the user it runs as; nothing to do when that is ours. */
  ownedByAgent(path: string): void;
}

/** A program that speaks MCP by stdin and stdout, as every CLI's configuration names one. */
export interface McpServer {
  command: string;
  args: string[];
}

/** One run, ready to be spawned. Secrets stand in `env` only, never in `argv` (R45). */
export interface ProcessOrder {
  argv: string[];
  env: Record<string, string>;
  stdin: string;
}
export interface PrepareError {
  prepare_error: { code: string; message: string };
}

export interface ProcessAdapter {
  cli: CliKind;
  order(claim: ClaimedWork, cwd: string, host: AdapterHost): Promise<ProcessOrder | PrepareError>;
  /** What the CLI keeps in files of its own and does not tell in its stream. `since` = the spawn, wall clock ms. */
  complete?(claim: ClaimedWork, stream: StreamFacts, since: number, host: AdapterHost): Promise<StreamFacts>;
  /** Takes away what `order` laid outside the directory of the run. */
  tidy?(claim: ClaimedWork, host: AdapterHost): Promise<void>;
}

export const cannotPrepare = (code: string, message: string): PrepareError => ({ prepare_error: { code, message } });
