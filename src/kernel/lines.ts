/**
 * Bytes of one stream → whole lines, each with the offset behind it. The same bytes give the same lines, however they are
 * cut into chunks: sequence numbers of the transcript rest on that. A line longer than the bound keeps its beginning only;
 * memory never grows with a stream that has no newline.
 */

/** The largest events seen carry images of a few MB in a tool result. */
const longestLine = 4 * 1024 * 1024;

export interface Line {
  text: string;
  /** Offset in the file of the byte behind its newline. */
  end: number;
  /** Its whole length in bytes, also when the text was cut. */
  bytes: number;
}

export interface LineSplitter {
  push(chunk: Buffer): Line[];
  /** The rest without a newline, at the end of the stream; null when there is none. */
  rest(): Line | null;
  /** Bytes pushed so far, counted from the start offset. */
  readonly at: number;
}

export const splitLines = (start = 0, longest = longestLine): LineSplitter => {
  let at = start;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let lineBytes = 0;

  const keep = (part: Buffer) => {
    lineBytes += part.length;
    const room = longest - keptBytes;
    if (room <= 0 || part.length === 0) return;
    // A copy: the chunk's buffer is used again for the next read.
    const piece = Buffer.from(part.subarray(0, room));
    kept.push(piece);
    keptBytes += piece.length;
  };
  const take = (end: number): Line => {
    let text = Buffer.concat(kept).toString('utf8');
    if (text.endsWith('\r')) text = text.slice(0, -1);
    const line = { text, end, bytes: lineBytes };
    kept = [];
    keptBytes = lineBytes = 0;
    return line;
  };

  return {
    push(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (;;) {
        const newline = chunk.indexOf(0x0a, from);
        if (newline === -1) break;
        keep(chunk.subarray(from, newline));
        from = newline + 1;
        lines.push(take(at + from));
      }
      keep(chunk.subarray(from));
      at += chunk.length;
      return lines;
    },
    rest: () => (lineBytes === 0 ? null : take(at)),
    get at() {
      return at;
    },
  };
};
