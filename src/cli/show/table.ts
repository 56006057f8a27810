/**
 * Columns for people: as wide as their widest cell, the last one cut to the terminal. Cells are cleaned of control
 * characters first; colours are put on after the widths are known.
 */
import { oneLine, type Terminal } from '../terminal.ts';

export type Cell = string | { text: string; colour: Parameters<Terminal['paint']>[1] };

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

export const table = (terminal: Terminal, head: string[], rows: Cell[][]): string => {
  const clean = rows.map((row) => row.map((cell) => oneLine(textOf(cell), 2000)));
  const widths = head.map((h, i) => Math.max(h.length, ...clean.map((row) => row[i]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, w) => sum + w + 2, 0);
  // A pipe gets whole cells: only a screen has an edge.
  const last = terminal.outIsTty ? Math.max(20, terminal.width - before) : Number.POSITIVE_INFINITY;
  const line = (cells: string[], paint: (text: string, i: number) => string) =>
    `${cells
      .map((text, i) => {
        const end = i === head.length - 1;
        const fit = end ? (text.length > last ? `${text.slice(0, last - 1)}…` : text) : text.padEnd(widths[i]!);
        return paint(fit, i);
      })
      .join('  ')
      .trimEnd()}\n`;
  return (
    line(head, (text) => terminal.paint('out', 'dim', text)) +
    clean
      .map((cells, r) =>
        line(cells, (text, i) => {
          const cell = rows[r]![i]!;
          return typeof cell === 'string' ? text : terminal.paint('out', cell.colour, text);
        }),
      )
      .join('')
  );
};
