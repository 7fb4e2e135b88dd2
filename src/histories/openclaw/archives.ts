import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import * as zlib from "node:zlib";
import { LonghaulError } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { Item, ProblemItem } from "../reading/item.ts";
import { type JsonLine, readJsonLines } from "../reading/json-lines.ts";
import type { ReadLimits } from "../reading/read-limits.ts";
import type { DatabaseRow, SourceDatabase } from "../reading/source-database.ts";
import { createOpenclawDecoder } from "./openclaw-decoder.ts";

/** A transcript that was archived after a reset or deletion, or because it was no longer used. */
interface Archive {
  readonly table: string;
  readonly session: string;
  readonly generation: string;
  readonly sizeBytes: number;
  readonly archivedAt: number | undefined;
  readonly encoding: string;
  /** Name of the archive file, if the archive is not in the database. */
  readonly file: string | undefined;
}

const TABLES = [
  { table: "session_transcript_archives", time: "created_at", encoding: "encoding", isFile: "0" },
  {
    table: "session_transcript_cold_archives",
    time: "archived_at",
    encoding: "'zstd'",
    isFile: "archive_blob IS NULL",
  },
];

/** Lists the archives of a database without their content. */
async function* listArchives(database: SourceDatabase): AsyncGenerator<Archive> {
  for (const { table, time, encoding, isFile } of TABLES) {
    const columns = ["session_id", "generation", "archive_name", "archive_blob", time];
    if (!columns.every((column) => database.hasColumn(table, column))) continue;
    for await (const row of database.rows(
      `SELECT session_id, generation, archive_name, length(archive_blob) AS size, ${time} AS time,
        ${encoding} AS encoding, ${isFile} AS is_file FROM ${table} ORDER BY ${time}, session_id`,
    ))
      yield toArchive(table, row);
  }
}

function toArchive(table: string, row: DatabaseRow): Archive {
  return {
    table,
    session: String(row.session_id),
    generation: String(row.generation),
    sizeBytes: Number(row.size ?? 0),
    archivedAt: typeof row.time === "number" ? row.time : undefined,
    encoding: String(row.encoding),
    file: row.is_file ? basename(String(row.archive_name)) : undefined,
  };
}

/**
 * Names the archives by source id: the session's own id if it is unique, else with the generation, because a session
 * may have been reset more than once.
 */
export async function nameArchives(database: SourceDatabase): Promise<ReadonlyMap<string, Archive>> {
  const archives: Archive[] = [];
  for await (const archive of listArchives(database)) archives.push(archive);
  const counts = Map.groupBy(archives, ({ session }) => session);
  const named = new Map<string, Archive>();
  for (const archive of archives) {
    const { session, generation } = archive;
    const live = await database.first(
      "SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1",
      session,
    );
    const isAlone = !live && counts.get(session)?.length === 1;
    named.set(isAlone ? session : `${session}@${generation}`, archive);
  }
  return named;
}

/** Returns the path of an archive's file, if it has one. */
export function getArchivePath(database: string, { file }: Archive): string | undefined {
  return file === undefined ? undefined : join(dirname(database), "cold", file);
}

/** Reads the transcript in an archive. */
export async function* readArchive(
  archive: Archive,
  source: ImportSource,
  input: Input,
  database: SourceDatabase,
): AsyncGenerator<Item> {
  const decoder = createOpenclawDecoder();
  const problem = (reason: string, line?: number): ProblemItem =>
    dropUndefined({
      type: "problem",
      path: source.path,
      severity: "lost",
      reason: `archive of ${source.id}: ${reason}`,
      line,
    });
  const lines = readLines(archive, source, input, database);
  if (typeof lines === "string") return yield problem(lines);
  try {
    for await (const batch of lines) {
      for (const { record, line, sizeBytes, problem: reason } of batch) {
        if (reason !== undefined) yield problem(reason, line);
        if (record) yield* decoder.decode({ record, line, sizeBytes });
      }
    }
  } catch (error) {
    input.signal?.throwIfAborted();
    yield problem((error as Error).message);
  }
}

function readLines(
  archive: Archive,
  source: ImportSource,
  input: Input,
  database: SourceDatabase,
): AsyncIterable<readonly JsonLine[]> | string {
  const path = getArchivePath(source.path, archive);
  if (path !== undefined) return input.jsonLines(path);
  const pieces = readPieces(archive, database);
  const { maxRecordBytes } = input.limits;
  if (archive.encoding === "identity") return readJsonLines(Readable.from(pieces), maxRecordBytes);
  if (archive.encoding !== "zstd") return `its encoding ${JSON.stringify(archive.encoding)} is not known`;
  return readJsonLines(unpackPieces(pieces, input.limits), maxRecordBytes);
}

const PIECE_BYTES = 1024 * 1024;

/** Yields the bytes of an archive in pieces, because it may be as large as the database allows. */
async function* readPieces(
  { table, session, generation, sizeBytes }: Archive,
  database: SourceDatabase,
): AsyncGenerator<Buffer> {
  for (let from = 1; from <= sizeBytes; from += PIECE_BYTES) {
    const row = await database.first(
      `SELECT substr(archive_blob, ?, ?) AS piece FROM ${table} WHERE session_id = ? AND generation = ?`,
      from,
      PIECE_BYTES,
      session,
      generation,
    );
    if (row?.piece instanceof Uint8Array) yield Buffer.from(row.piece);
  }
}

async function* unpackPieces(pieces: AsyncIterable<Buffer>, limits: ReadLimits): AsyncGenerator<Buffer> {
  if (typeof zlib.createZstdDecompress !== "function")
    throw new LonghaulError("CODEC_UNAVAILABLE", "zstd needs Node 22.15 or later.");
  let packedBytes = 0;
  let unpackedBytes = 0;
  const counted = async function* () {
    for await (const piece of pieces) {
      packedBytes += piece.length;
      yield piece;
    }
  };
  const packed = Readable.from(counted());
  const unpacker = zlib.createZstdDecompress();
  packed.on("error", (error) => unpacker.destroy(error));
  packed.pipe(unpacker);
  try {
    for await (const chunk of unpacker as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > limits.freeExpansionBytes && unpackedBytes > packedBytes * limits.maxExpansion)
        throw new Error(`grows more than ${limits.maxExpansion} times when unpacked; left there`);
      yield chunk;
    }
  } finally {
    packed.destroy();
    unpacker.destroy();
  }
}
