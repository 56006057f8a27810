/** The one way to a reader: by the kind of CLI. Unknown agents behind HTTP deliver the same entries as Claude Code. */
import type { CliKind } from '../contract/facts.ts';
import { claudeReader } from './claude.ts';
import { codexReader } from './codex.ts';
import { commandReader } from './command.ts';
import { geminiReader } from './gemini.ts';
import type { EvidenceReader } from './reader.ts';

interface ReaderOptions {
  /** The CLI was run with plain output instead of events. */
  textMode?: boolean;
  /** A program's plain answer is not kept: whoever has its output in a file makes it from there. */
  answerLeft?: boolean;
}

export const createReader = (cli: CliKind, options: ReaderOptions = {}): EvidenceReader => {
  const textMode = options.textMode ?? false;
  switch (cli) {
    case 'claude':
    case 'http':
      return claudeReader(cli, textMode);
    case 'codex':
      return codexReader(textMode);
    case 'gemini':
      return geminiReader(textMode);
    case 'command':
    case 'any':
      return commandReader(cli, options.answerLeft ?? false);
  }
};
