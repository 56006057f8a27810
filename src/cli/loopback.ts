/** Addresses that mean this machine alone: its token goes nowhere else, and an address handed on is no good elsewhere. Pure. */

export const loopback = (url: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** A line to stand under an address that is handed on; nothing when others can reach it. */
export const onlyHere = (url: string): string =>
  loopback(url)
    ? 'It works on this machine alone; elsewhere put the address in its place under which this server is reached there.\n'
    : '';
