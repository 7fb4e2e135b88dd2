import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Json, LonghaulError } from "../../kernel/index.ts";
import { isWithin } from "../../model/base/join-inside.ts";
import { openOutsideFile } from "../../model/base/outside-file.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";
import { isDamageError } from "./damage-error.ts";
import { type FileFacts, type Folder, listFolder, readFileFacts } from "./folder.ts";
import type { ProblemItem } from "./item.ts";
import { type JsonElement, readJsonElements } from "./json-elements.ts";
import { CHECK_BYTES, hashPosition, type JsonLine, type Position, readJsonLines } from "./json-lines.ts";
import { readBytes } from "./read-bytes.ts";
import { READ_LIMITS, type ReadLimits } from "./read-limits.ts";
import { type DatabaseCopies, openSourceDatabase, type SourceDatabase } from "./source-database.ts";
import { isCompressed } from "./unpack-file.ts";

export interface InputOptions {
  /** Real path of the tree that the user named. */
  readonly root: string;
  /** Files and folders of the source; nothing else is opened. */
  readonly paths: readonly string[];
  /** State of the last checkpoint. */
  readonly resume?: Json;
  /** The source may be growing: a truncated last record is not a problem yet. */
  readonly isLive?: boolean;
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
  /** Database copies shared by several sources; without them, each source makes its own. */
  readonly databases?: DatabaseCopies;
  /** Called with the number of bytes read, for progress. */
  readonly onBytes?: (count: number) => void;
}

/** A format's only access to its source: reads the source's own files and never writes. */
export class Input {
  readonly resume: Json | undefined;
  readonly isLive: boolean;
  readonly limits: ReadLimits;
  readonly signal: AbortSignal | undefined;
  readonly #root: string;
  readonly #paths: readonly string[];
  readonly #databases: DatabaseCopies | undefined;
  readonly #onBytes: (count: number) => void;
  /** The last bytes that were read of a plain file, so that its position is known without opening it again. */
  #tail: { readonly path: string; readonly end: number; readonly bytes: Buffer } | undefined;

  constructor(options: InputOptions) {
    this.resume = options.resume;
    this.isLive = options.isLive ?? false;
    this.limits = { ...READ_LIMITS, ...options.limits };
    this.signal = options.signal;
    this.#root = options.root;
    this.#paths = options.paths;
    this.#databases = options.databases;
    this.#onBytes = options.onBytes ?? (() => undefined);
  }

  /** Reads the records of a JSONL file in batches, from a position or from the beginning. */
  async *jsonLines(path: string, from?: Position): AsyncGenerator<readonly JsonLine[]> {
    const chunks = this.#readBytes(this.#checkOwn(path), from?.offset);
    let [line, end] = [from?.lines ?? 0, from?.offset ?? 0];
    try {
      for await (const batch of readJsonLines(chunks, this.limits.maxRecordBytes, from)) {
        ({ line, end } = batch.at(-1) as JsonLine);
        yield batch;
      }
    } catch (error) {
      if (!isDamageError(error)) throw error;
      yield [{ line: line + 1, end, sizeBytes: 0, problem: (error as Error).message }];
    }
  }

  /** Reads the elements of a root array, or the fields of a root object with the named arrays element by element. */
  async *jsonElements(path: string, arrays: readonly string[] = []): AsyncGenerator<JsonElement> {
    const { maxRecordBytes } = this.limits;
    const chunks = this.#readBytes(this.#checkOwn(path));
    let line = 1;
    try {
      for await (const element of readJsonElements(chunks, { arrays, maxRecordBytes })) {
        line = element.line;
        yield element;
      }
    } catch (error) {
      if (!isDamageError(error)) throw error;
      yield { field: "", line, sizeBytes: 0, problem: (error as Error).message, isCut: true };
    }
  }

  /** The problem of an element; undefined if it has none, or if a file that is being written ends inside the element. */
  elementProblem(path: string, { line, value, problem, isCut }: JsonElement): ProblemItem | undefined {
    if (problem === undefined || (isCut && this.isLive)) return undefined;
    return {
      type: "problem",
      path,
      line,
      severity: value === undefined ? "lost" : "damaged",
      reason: problem,
    };
  }

  /** Reads a small JSON file: undefined if it is missing, a problem if it is not JSON or too large. */
  async json(path: string): Promise<{ readonly value: unknown } | ProblemItem | undefined> {
    const text = await this.text(path);
    if (text === undefined || typeof text !== "string") return text;
    try {
      return { value: parseJson(text) };
    } catch (error) {
      return buildProblem(path, describeJsonFault(error));
    }
  }

  /**
   * Reads a file as text, up to the size limit of a record: undefined if it is missing, a problem if it is too large.
   */
  async text(path: string): Promise<string | ProblemItem | undefined> {
    if (!(await readFileFacts(path))) return undefined;
    const pieces: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of this.#readBytes(this.#checkOwn(path))) {
        size += chunk.length;
        if (size > this.limits.maxRecordBytes)
          return buildProblem(path, `longer than ${this.limits.maxRecordBytes} bytes; not read`);
        pieces.push(Buffer.from(chunk));
      }
    } catch (error) {
      if (!isDamageError(error)) throw error;
      return buildProblem(path, (error as Error).message);
    }
    return Buffer.concat(pieces)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  /** Streams the bytes of a file. */
  async *bytes(path: string): AsyncGenerator<Buffer> {
    yield* this.#readBytes(this.#checkOwn(path));
  }

  /** Lists a folder of the source; undefined if there is none. */
  async folder(path: string): Promise<Folder | undefined> {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return undefined;
    if (real !== this.#checkOwn(path)) throw createAccessError(path);
    return listFolder(path, { root: this.#root, isClaimed: () => false, report: () => undefined });
  }

  /** Opens a SQLite database for reading without modifying the source. The caller must close it. */
  async database(path: string): Promise<SourceDatabase> {
    if (!(await readFileFacts(this.#checkOwn(path)))) throw createAccessError(path);
    const options = { signal: this.signal, maxQueryMs: this.limits.maxQueryMs };
    return this.#databases ? this.#databases.open(path, options) : openSourceDatabase(path, options);
  }

  /** Returns the position after a line, for a checkpoint. */
  async position(path: string, line: Pick<JsonLine, "end" | "line" | "isOpen">): Promise<Position> {
    // The line break of an open line is still missing; read later as a blank line, it gets this line's number.
    const lines = line.isOpen ? line.line - 1 : line.line;
    const { end } = line;
    const tail = this.#tail;
    const isKnown =
      tail?.path === path && tail.end === end && tail.bytes.length === Math.min(end, CHECK_BYTES);
    const check = isKnown ? hashPosition(tail.bytes) : await this.#hashBefore(this.#checkOwn(path), end);
    return { offset: end, lines, check };
  }

  /** Returns the position if the file is unchanged up to it; undefined if it must be read from the beginning. */
  async validatePosition(path: string, position: Position | undefined): Promise<Position | undefined> {
    if (!position || !Number.isSafeInteger(position.offset)) return undefined;
    const own = this.#checkOwn(path);
    const facts = await readFileFacts(own);
    if (!facts || (!isCompressed(own) && facts.sizeBytes < position.offset)) return undefined;
    return (await this.#hashBefore(own, position.offset)) === position.check ? position : undefined;
  }

  async *#readBytes(path: string, from = 0): AsyncGenerator<Buffer> {
    const { limits, signal } = this;
    const onRead = (bytes: Buffer, end: number) => {
      this.#tail = { path, end, bytes: Buffer.from(bytes.subarray(-CHECK_BYTES)) };
    };
    const chunks = readBytes(path, { from, limits, onRead, ...(signal && { signal }) });
    for await (const chunk of chunks) {
      this.#onBytes(chunk.length);
      yield chunk;
    }
  }

  async #hashBefore(path: string, offset: number): Promise<string> {
    if (isCompressed(path)) {
      const facts = (await readFileFacts(path)) as FileFacts;
      return `${facts.sizeBytes}:${facts.modifiedAt}`;
    }
    const from = Math.max(0, offset - CHECK_BYTES);
    const { file } = await openOutsideFile(path);
    try {
      const before = Buffer.alloc(offset - from);
      const { bytesRead } = await file.read(before, 0, before.length, from);
      return hashPosition(before.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }

  /** Refuses paths outside the source, and links that lead out of the tree. */
  #checkOwn(path: string): string {
    const isOwn = resolve(path) === path && this.#paths.some((own) => isWithin(path, own));
    const parent = dirname(path);
    if (isOwn && resolveFolder(parent) === parent && isWithin(path, this.#root)) return path;
    throw createAccessError(path);
  }
}

/** The real path of a folder. In its own thread, this short call would take most of the time of a small file. */
function resolveFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function createAccessError(path: string): LonghaulError {
  return new LonghaulError(
    "SOURCE_UNREADABLE",
    `${path} is not part of what was to be read; name it if it should be.`,
    { details: { path } },
  );
}

function buildProblem(path: string, reason: string): ProblemItem {
  return { type: "problem", path, severity: "lost", reason };
}
