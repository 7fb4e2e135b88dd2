export interface TextLine {
  /** Counted from 1. */
  readonly number: number;
  /** Offset of its end, including the line break. */
  readonly end: number;
  /** Content without the line break; undefined above the limit. Valid until the next batch. */
  readonly bytes: Buffer | undefined;
  readonly sizeBytes: number;
  /** False for a last line without a line break, which may still be growing. */
  readonly isEnded: boolean;
}

/** Offset to start at, and the number of lines before it. */
export interface LinesStart {
  readonly offset: number;
  readonly lines: number;
}

const NEWLINE = 10;

/** Splits bytes into lines, in batches; never holds more than `maxBytes` of a line. */
export async function* splitTextLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  start: LinesStart = { offset: 0, lines: 0 },
): AsyncGenerator<readonly TextLine[]> {
  let number = start.lines;
  let offset = start.offset;
  let held: Buffer[] = [];
  let heldBytes = 0;

  const hold = (piece: Buffer) => {
    heldBytes += piece.length;
    if (heldBytes > maxBytes) held = [];
    // Copied, because the chunk's memory is reused.
    else if (piece.length > 0) held.push(Buffer.from(piece));
  };
  const finish = (piece: Buffer, isEnded: boolean): TextLine => {
    const sizeBytes = heldBytes + piece.length;
    const isWhole = sizeBytes <= maxBytes;
    const bytes = heldBytes === 0 ? piece : isWhole ? Buffer.concat([...held, piece], sizeBytes) : undefined;
    offset += sizeBytes + (isEnded ? 1 : 0);
    number++;
    held = [];
    heldBytes = 0;
    return { number, end: offset, bytes: isWhole ? bytes : undefined, sizeBytes, isEnded };
  };

  for await (const chunk of chunks) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      lines.push(finish(chunk.subarray(from, to), true));
      from = to + 1;
    }
    hold(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (heldBytes > 0) yield [finish(Buffer.alloc(0), false)];
}
