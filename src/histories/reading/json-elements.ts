import { isUtf8 } from "node:buffer";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";

/** One value in a JSON file. */
export interface JsonElement {
  /** Field of the root object; "" for the elements of a root array. */
  readonly field: string;
  /** Index in the array; undefined for a field that is not a streamed array. */
  readonly index?: number;
  readonly line: number;
  readonly sizeBytes: number;
  readonly value?: unknown;
  /** With a value: it was kept incompletely. */
  readonly problem?: string;
  /** The file ends before the value does. */
  readonly isCut?: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const NEWLINE = 10;

/**
 * Reads a JSON file value by value: the elements of a root array, or the fields of a root object, with the arrays named
 * in `arrays` element by element. Nothing larger than one value is held. Values before a break in the file are yielded;
 * broken values carry a problem.
 */
export async function* readJsonElements(
  chunks: AsyncIterable<Buffer>,
  options: { readonly arrays: readonly string[]; readonly maxRecordBytes: number },
): AsyncGenerator<JsonElement> {
  const cutter = new ElementCutter(options.arrays, options.maxRecordBytes);
  for await (const chunk of chunks) {
    yield* cutter.push(chunk);
    if (cutter.isDone) return;
  }
  yield* cutter.end();
}

/** Finds the boundaries of values by brackets and quotes alone; JSON.parse checks their content. */
class ElementCutter {
  readonly #arrays: ReadonlySet<string>;
  readonly #maxBytes: number;
  #root: "none" | "array" | "object" = "none";
  /** Open brackets inside the current value. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Field of the root object whose value is next or current; undefined while a name is expected. */
  #field: string | undefined;
  #index: number | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasContent = false;
  #line = 1;
  #valueLine = 1;
  isDone = false;

  constructor(arrays: readonly string[], maxBytes: number) {
    this.#arrays = new Set(arrays);
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Buffer): Generator<JsonElement> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inString) {
        at = this.#passString(chunk, at);
        continue;
      }
      if (this.#depth > 0) {
        at = this.#passNested(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      if (byte === NEWLINE) this.#line++;
      if (byte <= 0x20) continue;
      if (this.#root === "none") {
        if (byte === 0xef || byte === 0xbb || byte === 0xbf) continue;
        this.#begin(byte);
        from = at + 1;
        if (this.isDone) {
          yield this.#element({ problem: "the file holds neither a JSON object nor an array" });
          return;
        }
        continue;
      }
      if (!this.#hasContent && byte !== COMMA && byte !== CLOSE_ARRAY && byte !== CLOSE_OBJECT) {
        this.#hasContent = true;
        this.#valueLine = this.#line;
      }
      if (byte === QUOTE) {
        this.#inString = true;
      } else if (byte === OPEN_ARRAY && this.#isStreamed()) {
        this.#index = 0;
        this.#drop();
        from = at + 1;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        this.#depth++;
      } else if (byte === COLON && this.#root === "object" && this.#field === undefined) {
        this.#field = this.#takeName(chunk.subarray(from, at));
        from = at + 1;
      } else if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        yield* this.#finishValue(chunk.subarray(from, at), byte);
        from = at + 1;
        if (this.isDone) return;
      }
    }
    if (this.#root !== "none") this.#hold(chunk.subarray(from));
  }

  *end(): Generator<JsonElement> {
    if (this.isDone) return;
    this.isDone = true;
    if (this.#root === "none") yield this.#element({ problem: "the file is empty", isCut: true });
    else yield this.#element({ problem: "the file ends in the middle of a record", isCut: true });
  }

  #begin(byte: number): void {
    if (byte === OPEN_ARRAY) {
      this.#root = "array";
      this.#field = "";
      this.#index = 0;
    } else if (byte === OPEN_OBJECT) this.#root = "object";
    else this.isDone = true;
  }

  #isStreamed(): boolean {
    return this.#index === undefined && this.#field !== undefined && this.#arrays.has(this.#field);
  }

  /** Returns the index of the last nested byte, of the quote that opens a string, or of the chunk's end. */
  #passNested(chunk: Buffer, from: number): number {
    let depth = this.#depth;
    let at = from;
    for (; at < chunk.length && depth > 0; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#inString = true;
        at++;
        break;
      }
      if (byte === NEWLINE) this.#line++;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    }
    this.#depth = depth;
    return at - 1;
  }

  /** Returns the index of the closing quote, or the chunk's end if the string continues. */
  #passString(chunk: Buffer, from: number): number {
    let at = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    for (;;) {
      const quote = findQuote(chunk, at);
      const end = quote < 0 ? chunk.length : quote;
      let slashes = 0;
      while (end - 1 - slashes >= at && chunk[end - 1 - slashes] === BACKSLASH) slashes++;
      const isEscaped = slashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        return chunk.length;
      }
      if (!isEscaped) {
        this.#inString = false;
        return quote;
      }
      at = quote + 1;
    }
  }

  *#finishValue(rest: Buffer, byte: number): Generator<JsonElement> {
    const isArrayEnd = byte === CLOSE_ARRAY && this.#index !== undefined;
    if (this.#hasContent) {
      this.#hold(rest);
      yield this.#parse();
    }
    this.#drop();
    if (isArrayEnd) {
      this.#index = undefined;
      this.isDone = this.#root === "array";
      // The field's value ends with the comma after the bracket.
    } else if (this.#index !== undefined && byte === COMMA) this.#index++;
    else {
      this.#field = undefined;
      this.isDone = byte === CLOSE_OBJECT;
    }
  }

  #takeName(rest: Buffer): string {
    this.#hold(rest);
    const name = this.#text();
    this.#drop();
    try {
      return String(JSON.parse(name));
    } catch {
      return name.trim();
    }
  }

  #parse(): JsonElement {
    if (this.#heldBytes > this.#maxBytes) {
      return this.#element({ problem: `longer than ${this.#maxBytes} bytes (${this.#heldBytes}); not read` });
    }
    const bytes = Buffer.concat(this.#held, this.#heldBytes);
    try {
      const value = parseJson(bytes.toString("utf8"));
      if (isUtf8(bytes)) return this.#element({ value });
      return this.#element({ value, problem: "not UTF-8; the wrong bytes were replaced by U+FFFD" });
    } catch (error) {
      return this.#element({ problem: describeJsonFault(error) });
    }
  }

  #element(found: Pick<JsonElement, "value" | "problem" | "isCut">): JsonElement {
    const index = this.#index === undefined ? {} : { index: this.#index };
    const line = this.#hasContent ? this.#valueLine : this.#line;
    return { field: this.#field ?? "", ...index, line, sizeBytes: this.#heldBytes, ...found };
  }

  #hold(piece: Buffer): void {
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxBytes) this.#held = [];
    // Copied, because the chunk's memory is reused.
    else if (piece.length > 0) this.#held.push(Buffer.from(piece));
  }

  #text(): string {
    return Buffer.concat(this.#held).toString("utf8");
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#hasContent = false;
  }
}

/** Finds a quote. Most strings are short: a loop finds their end before a native search would have started. */
function findQuote(chunk: Buffer, from: number): number {
  const near = Math.min(from + 24, chunk.length);
  for (let at = from; at < near; at++) if (chunk[at] === QUOTE) return at;
  return chunk.indexOf(QUOTE, near);
}
