import { isUtf8 } from "node:buffer";
import { computeFingerprint } from "../../model/base/digest.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";

const NEWLINE = 10;

/** An unchecked JSON object from a file. */
export type JsonObject = { readonly [key: string]: unknown };

/** One line of a JSONL file: a record or a problem. */
export interface JsonLine {
  readonly line: number;
  /** Offset of the next line. */
  readonly end: number;
  readonly sizeBytes: number;
  readonly record?: JsonObject;
  /** With a record: it was kept incompletely. */
  readonly problem?: string;
  /** The truncated last line of a file that may still be growing. */
  readonly isCut?: boolean;
  /** A complete record without a line break yet. */
  readonly isOpen?: boolean;
}

/** Reads the records of a JSONL file in batches. Blank lines are skipped; lines without an object carry a problem. */
export async function* readJsonLines(
  chunks: AsyncIterable<Buffer>,
  maxRecordBytes: number,
  start?: LinesStart,
): AsyncGenerator<readonly JsonLine[]> {
  for await (const lines of splitTextLines(chunks, maxRecordBytes, start)) {
    const batch: JsonLine[] = [];
    for (const line of lines) {
      const parsed = parseLine(line, maxRecordBytes);
      if (parsed) batch.push(parsed);
    }
    if (batch.length > 0) yield batch;
  }
}

function parseLine(line: TextLine, maxRecordBytes: number): JsonLine | undefined {
  const { number, end, sizeBytes, isEnded } = line;
  const base = { line: number, end, sizeBytes };
  if (!line.bytes)
    return { ...base, problem: `longer than ${maxRecordBytes} bytes (${sizeBytes}); not read` };
  const bytes = number === 1 ? removeByteOrderMark(line.bytes) : line.bytes;
  const text = bytes.toString("utf8");
  if (text.length === 0 || text.trim() === "") return undefined;
  const isDamaged = text.includes("\uFFFD") && !isUtf8(bytes);
  try {
    const record = parseJson(text);
    if (record === null || typeof record !== "object" || Array.isArray(record)) {
      return { ...base, problem: "not a JSON object" };
    }
    const found = { ...base, record: record as JsonObject, ...(!isEnded && { isOpen: true }) };
    return isDamaged ? { ...found, problem: "not UTF-8; the wrong bytes were replaced by U+FFFD" } : found;
  } catch (error) {
    if (!isEnded) return { ...base, problem: "the file ends in the middle of a record", isCut: true };
    return { ...base, problem: describeJsonFault(error) };
  }
}

function removeByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Read position in a file, with a check that detects a changed file. */
export interface Position extends LinesStart {
  readonly check: string;
}

/** Number of bytes before a position that identify the file. */
export const CHECK_BYTES = 1024;

/** Hashes the bytes before a position. */
export function hashPosition(before: Buffer): string {
  return computeFingerprint(before);
}

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
interface LinesStart {
  readonly offset: number;
  readonly lines: number;
}

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
