/**
 * What an agent printed → what may be shown as text. Terminal codes go, since they mean nothing on a page; characters that
 * turn the direction of what follows are made visible, since they can make text read as what it is not. Right-to-left
 * letters themselves stay. The result is only ever put into text nodes.
 */

// ESC sequences: CSI (also as one C1 character), OSC / DCS / PM / APC / SOS up to their terminator or the end of the line,
// character set choices, then any other two-character escape.
const ansi =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]+[0-~]|\u001b[0-~]?/g;
/** Controls but tab and newline. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Embeddings, overrides, isolates, marks. */
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const turnNames: Record<string, string> = {
  '\u061c': 'ALM',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
};

/** A progress bar rewrites its line: its last state is what a terminal would show. */
const lastState = (line: string): string => {
  const parts = line.split('\r').filter((part) => part !== '');
  return parts.at(-1) ?? '';
};

export const stripAnsi = (text: string): string => text.replace(ansi, '');

export const plainText = (text: string): string =>
  stripAnsi(text.toWellFormed().replaceAll('\r\n', '\n'))
    .split('\n')
    .map((line) => (line.includes('\r') ? lastState(line) : line))
    .join('\n')
    .replace(controls, '\ufffd')
    .replace(turns, (c) => `⟦${turnNames[c]}⟧`);

/** A sentence below its title: what stands in the title already is not said twice. */
export const below = (title: string, text: string | null | undefined): string => {
  const said = (text ?? '').trimStart();
  return said.startsWith(`${title}.`) ? said.slice(title.length + 1).trimStart() : said;
};

/** The first line that says something, cut to what a row can hold. */
export const headOf = (text: string | null | undefined, most = 200): string => {
  // A message may be two megabytes; its head is in its first few kilobytes or nowhere.
  const line = plainText((text ?? '').slice(0, 4_000))
    .split('\n')
    .find((l) => l.trim() !== '');
  const head = (line ?? '').trim().replace(/\s+/g, ' ');
  return head.length > most
    ? `${head
        .slice(0, most)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
    : head;
};
