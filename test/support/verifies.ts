/** Ties a test to the rules of the design it holds: `it(verifies('R12', 'D3')('waits for ever with budget 0'), ...)`. */
export const verifies =
  (...ids: string[]) =>
  (sentence: string): string =>
    `${sentence} [${ids.join(' ')}]`;
