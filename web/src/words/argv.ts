/** A command line as a person types it → argv. Quotes and backslashes as in a shell; nothing is expanded, nothing is run. */
export const splitWords = (line: string): { words: string[] } | { problem: string } => {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (quote === "'") {
      if (c === "'") quote = null;
      else word += c;
    } else if (c === '\\' && i + 1 < line.length && (quote === null || '"\\'.includes(line[i + 1]!))) {
      i++;
      word = (word ?? '') + line[i]!;
    } else if (quote === '"') {
      if (c === '"') quote = null;
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      word ??= '';
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + c;
  }
  if (quote !== null) return { problem: `A ${quote} is not closed.` };
  if (word !== null) words.push(word);
  return words.length === 0 ? { problem: 'A command is needed.' } : { words };
};

/** argv → a line that splits into the same words again. */
export const joinWords = (words: readonly string[]): string =>
  words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`)).join(' ');
