/**
 * Lines of CSV (RFC 4180) for what is exported: costs, the audit. A text that a spreadsheet would take for a formula is kept text
 * by an apostrophe; numbers stay numbers, null is an empty cell.
 */
type Cell = string | number | null;

const cell = (value: Cell): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`;
