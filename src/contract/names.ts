/** Names of agents: one cleaning rule for API, CLI and page. */

/** Lower case, every other character to `-`, runs collapsed, ends trimmed; `''` when nothing is left. At most 63 characters. */
export const cleanName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
