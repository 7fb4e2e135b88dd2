import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Json, LonghaulError } from "../../index.ts";
import type { ProblemItem } from "../item.ts";
import { readBytes } from "./bytes.ts";
import { isDamaged } from "./damage.ts";
import { type DatabaseCopies, openDatabase, type SourceDatabase } from "./database.ts";
import { type FileFacts, type Folder, fileFacts, isWithin, listFolder } from "./folder.ts";
import { type JsonElement, readJsonElements } from "./json-elements.ts";
import { CHECK_BYTES, type JsonLine, type Position, positionCheck, readJsonLines } from "./json-lines.ts";
import { READ_LIMITS, type ReadLimits } from "./limits.ts";
import { openFile } from "./open-file.ts";
import { jsonFault, parseJson } from "./parse-json.ts";
import { isCompressed } from "./unpack.ts";

/** How a source is to be read. */
export interface InputOptions {
  /** The real path of the tree that the user named. */
  readonly root: string;
  /** Files and folders of the source; nothing else is opened. */
  readonly paths: readonly string[];
  /** State of the last checkpoint. */
  readonly resume?: Json;
  /** The source is being followed: a last record that is cut short is not a problem yet. */
  readonly isLive?: boolean;
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
  /** Copies of databases that several sources share; without, each makes its own. */
  readonly databases?: DatabaseCopies;
  /** Told how many bytes were read, for progress. */
  readonly onBytes?: (count: number) => void;
}

/** The only way for a format to its source: reads what belongs to it and nothing else, and never writes. */
export class Input {
  readonly resume: Json | undefined;
  readonly isLive: boolean;
  readonly limits: ReadLimits;
  readonly signal: AbortSignal | undefined;
  readonly #root: string;
  readonly #paths: readonly string[];
  readonly #databases: DatabaseCopies | undefined;
  readonly #onBytes: (count: number) => void;

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

  /** The records of a JSONL file, in batches, from a position or from the beginning. */
  async *jsonLines(path: string, from?: Position): AsyncGenerator<readonly JsonLine[]> {
    const chunks = this.#bytes(await this.#own(path), from?.offset);
    let [line, end] = [from?.lines ?? 0, from?.offset ?? 0];
    try {
      for await (const batch of readJsonLines(chunks, this.limits.maxRecordBytes, from)) {
        ({ line, end } = batch.at(-1) as JsonLine);
        yield batch;
      }
    } catch (error) {
      if (!isDamaged(error)) throw error;
      yield [{ line: line + 1, end, sizeBytes: 0, problem: (error as Error).message }];
    }
  }

  /** The elements of a root array, or the fields of a root object with the named arrays element by element. */
  async *jsonElements(path: string, arrays: readonly string[] = []): AsyncGenerator<JsonElement> {
    const { maxRecordBytes } = this.limits;
    const chunks = this.#bytes(await this.#own(path));
    let line = 1;
    try {
      for await (const element of readJsonElements(chunks, { arrays, maxRecordBytes })) {
        line = element.line;
        yield element;
      }
    } catch (error) {
      if (!isDamaged(error)) throw error;
      yield { field: "", line, sizeBytes: 0, problem: (error as Error).message, isCut: true };
    }
  }

  /** A small JSON file whole: undefined if it is missing, a problem if it is not JSON or too large. */
  async json(path: string): Promise<{ readonly value: unknown } | ProblemItem | undefined> {
    const text = await this.text(path);
    if (text === undefined || typeof text !== "string") return text;
    try {
      return { value: parseJson(text) };
    } catch (error) {
      return problem(path, jsonFault(error));
    }
  }

  /** A file whole as text, up to the limit of one record: undefined if it is missing, a problem if it is too large. */
  async text(path: string): Promise<string | ProblemItem | undefined> {
    if (!(await fileFacts(path))) return undefined;
    const pieces: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of this.#bytes(await this.#own(path))) {
        size += chunk.length;
        if (size > this.limits.maxRecordBytes)
          return problem(path, `longer than ${this.limits.maxRecordBytes} bytes; not read`);
        pieces.push(Buffer.from(chunk));
      }
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return problem(path, (error as Error).message);
    }
    return Buffer.concat(pieces)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  /** The bytes of a file as a stream. */
  async *bytes(path: string): AsyncGenerator<Buffer> {
    yield* this.#bytes(await this.#own(path));
  }

  /** A folder of the source; undefined if there is none. */
  async folder(path: string): Promise<Folder | undefined> {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return undefined;
    if (real !== (await this.#own(path))) throw notOwn(path);
    return listFolder(path, { root: this.#root, isClaimed: () => false, report: () => undefined });
  }

  /** A SQLite database, for reading; the source is not touched. To be closed. */
  async database(path: string): Promise<SourceDatabase> {
    if (!(await fileFacts(await this.#own(path)))) throw notOwn(path);
    return this.#databases ? this.#databases.open(path, this.signal) : openDatabase(path, this.signal);
  }

  /** The position behind a line, to be put into a checkpoint. */
  async position(path: string, line: Pick<JsonLine, "end" | "line" | "isOpen">): Promise<Position> {
    // The break of an open line is still to come; read then as a blank line, it takes this line's number.
    const lines = line.isOpen ? line.line - 1 : line.line;
    return { offset: line.end, lines, check: await this.#check(await this.#own(path), line.end) };
  }

  /** The position, if the file is still the same up to there; else undefined: it has to be read anew. */
  async stillAt(path: string, position: Position | undefined): Promise<Position | undefined> {
    if (!position || !Number.isSafeInteger(position.offset)) return undefined;
    const own = await this.#own(path);
    const facts = await fileFacts(own);
    if (!facts || (!isCompressed(own) && facts.sizeBytes < position.offset)) return undefined;
    return (await this.#check(own, position.offset)) === position.check ? position : undefined;
  }

  async *#bytes(path: string, from = 0): AsyncGenerator<Buffer> {
    const { limits, signal } = this;
    const chunks = readBytes(path, { from, limits, ...(signal && { signal }) });
    for await (const chunk of chunks) {
      this.#onBytes(chunk.length);
      yield chunk;
    }
  }

  async #check(path: string, offset: number): Promise<string> {
    if (isCompressed(path)) {
      const facts = (await fileFacts(path)) as FileFacts;
      return `${facts.sizeBytes}:${facts.modifiedAt}`;
    }
    const { file } = await openFile(path);
    try {
      const from = Math.max(0, offset - CHECK_BYTES);
      const before = Buffer.alloc(offset - from);
      const { bytesRead } = await file.read(before, 0, before.length, from);
      return positionCheck(before.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }

  /** Refuses what does not belong to the source, and what links lead out of the tree. */
  async #own(path: string): Promise<string> {
    const isOwn = resolve(path) === path && this.#paths.some((own) => isWithin(path, own));
    const folder = await realpath(dirname(path)).catch(() => undefined);
    if (isOwn && folder === dirname(path) && isWithin(path, this.#root)) return path;
    throw notOwn(path);
  }
}

function notOwn(path: string): LonghaulError {
  return new LonghaulError(
    "SOURCE_UNREADABLE",
    `${path} is not part of what was to be read; name it if it should be.`,
    { details: { path } },
  );
}

function problem(path: string, reason: string): ProblemItem {
  return { type: "problem", path, severity: "lost", reason };
}
