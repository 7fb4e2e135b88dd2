import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { type Json, LonghaulError, type Session } from "../../kernel/index.ts";
import { isWithin } from "../../model/base/join-inside.ts";
import { openOutsideFile } from "../../model/base/outside-file.ts";
import { ORIGINAL_FORMAT } from "../../model/entry.ts";
import { toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { FoundSource } from "../find-sources.ts";
import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";

/** Most bytes of a file in one entry. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Most files of one conversation; a folder with more is not one conversation. */
const MAX_FILES = 2_000;
/** Shared by many conversations and open in its agent; its rows are restored by a writer instead. */
const DATABASE = /\.(db|sqlite3?|vscdb)(-wal|-shm|-journal)?$/i;

/** Node before 22.15 has no zstd. */
const HAS_ZSTD = "zstdCompress" in zlib;
const pack = promisify(HAS_ZSTD ? zlib.zstdCompress : zlib.deflateRaw);

/** A stretch of a file: the entry that holds it, its length, and the beginning of its SHA-256. */
type Piece = readonly [seq: number, sizeBytes: number, digest: string];

/** A file of a conversation as it was when it was imported. */
interface OriginalFile {
  /** Absolute, or below the home folder with a leading "~/". */
  readonly path: string;
  readonly modifiedAt: number;
  readonly pieces: readonly Piece[];
}

/** The name of the kept copy of a conversation that shares its file with others. */
const COPY = "copy.json";

/** Stores the bytes of a conversation's own files, as far as the session does not have them yet. */
export async function keepOriginals(
  session: Session,
  { source, format, root }: FoundSource,
  input: Input,
): Promise<void> {
  const { signal } = input;
  if (await hasErased(session)) return;
  const intake = await session.intake(`original:${session.id}`);
  const known = new Map(parseFiles(intake.progress).map((file) => [file.path, file]));
  let isChanged = false;
  const keep = async (
    name: string,
    modifiedAt: number,
    read: (known: readonly Piece[]) => AsyncGenerator<Buffer>,
  ): Promise<void> => {
    const before = known.get(name);
    const pieces: Piece[] = [];
    let isSame = true;
    for await (const bytes of read(before?.pieces ?? [])) {
      const digest = computeDigest(bytes);
      const piece = before?.pieces[pieces.length];
      isSame &&= piece?.[1] === bytes.length && piece[2] === digest;
      if (isSame && piece) {
        pieces.push(piece);
        continue;
      }
      const value = { file: name, ...(await packBytes(bytes)) };
      pieces.push([
        await intake.append([{ body: { kind: "raw", format: ORIGINAL_FORMAT, value } }]),
        bytes.length,
        digest,
      ]);
    }
    if (pieces.length === 0) return;
    known.set(name, { path: name, modifiedAt, pieces });
    isChanged = true;
  };
  for (const path of await listOwnFiles(source, root)) {
    const facts = await lstat(path).catch(() => undefined);
    if (!facts?.isFile()) continue;
    const modifiedAt = Math.trunc(facts.mtimeMs);
    const before = known.get(shortenPath(path));
    if (before?.modifiedAt === modifiedAt && sumBytes(before.pieces) === facts.size) continue;
    await keep(shortenPath(path), modifiedAt, (pieces) => readPieces(path, pieces, signal));
  }
  const { copy } = format;
  if (copy && known.get(COPY)?.modifiedAt !== source.modifiedAt)
    await keep(COPY, source.modifiedAt, () => splitText(copy(source, input)));
  if (isChanged) await intake.save({ progress: [...known.values()] as unknown as Json });
}

/** The bytes of one kept file. */
export interface KeptFile {
  readonly path: string;
  /** True for a conversation that shared its file with others; its path says nothing. */
  readonly isCopy: boolean;
  readonly sizeBytes: number;
  bytes(): AsyncGenerator<Buffer>;
}

/** True if a part of a conversation was erased: its files would bring it back. */
async function hasErased(session: Session): Promise<boolean> {
  return (await session.read({ from: 1, limit: 1, kinds: ["redacted"] })).length > 0;
}

/** The files that a conversation was imported from; none if they are not kept. `home` replaces the home of then. */
export async function readOriginals(
  session: Session,
  readText: (digest: string) => Promise<string>,
  home = homedir(),
): Promise<readonly KeptFile[]> {
  const intake = await session.intake(`original:${session.id}`);
  const files = (await hasErased(session)) ? [] : parseFiles(intake.progress);
  return files.map(({ path, pieces }) => ({
    isCopy: path === COPY,
    path: path.startsWith("~/") ? join(home, path.slice(2)) : path,
    sizeBytes: sumBytes(pieces),
    async *bytes() {
      for (const [seq, sizeBytes, digest] of pieces) {
        const entry = await session.entry(seq);
        if (entry?.kind !== "raw" || entry.format !== ORIGINAL_FORMAT) throw createDamageError(path);
        const value = entry.blob ? (JSON.parse(await readText(entry.blob.digest)) as Json) : entry.value;
        const bytes = unpackBytes(value, sizeBytes);
        if (!bytes || bytes.length !== sizeBytes || computeDigest(bytes) !== digest)
          throw createDamageError(path);
        yield bytes;
      }
    },
  }));
}

function createDamageError(path: string): LonghaulError {
  return new LonghaulError(
    "BLOB_CORRUPT",
    `The kept bytes of ${path} are damaged in the store; restore a backup of it.`,
    {
      details: { path },
    },
  );
}

/** Lists the files that belong to this conversation only. */
async function listOwnFiles({ paths }: ImportSource, root: string): Promise<readonly string[]> {
  const files: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const facts = await lstat(path).catch(() => undefined);
    if (!isWithin(path, root) || files.length >= MAX_FILES) return;
    if (facts?.isFile() && !DATABASE.test(path)) files.push(path);
    if (facts?.isDirectory()) for (const name of (await readdir(path)).sort()) await visit(join(path, name));
  };
  for (const path of paths) await visit(path);
  return files;
}

/** Reads a file in the stretches that are known, then in stretches of the full length. */
async function* readPieces(
  path: string,
  known: readonly Piece[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const { file } = await openOutsideFile(path);
  try {
    let offset = 0;
    for (let index = 0; ; index++) {
      signal?.throwIfAborted();
      const wanted = Math.min(known[index]?.[1] ?? PIECE_BYTES, PIECE_BYTES);
      const buffer = Buffer.allocUnsafe(wanted);
      let length = 0;
      while (length < wanted) {
        const { bytesRead } = await file.read(buffer, length, wanted - length, offset + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length === 0) return;
      offset += length;
      yield buffer.subarray(0, length);
      if (length < wanted) return;
    }
  } finally {
    await file.close();
  }
}

async function* splitText(texts: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let sizeBytes = 0;
  for await (const text of texts) {
    held.push(Buffer.from(text));
    sizeBytes += held.at(-1)?.length ?? 0;
    if (sizeBytes < PIECE_BYTES) continue;
    yield Buffer.concat(held);
    [held, sizeBytes] = [[], 0];
  }
  if (sizeBytes > 0) yield Buffer.concat(held);
}

async function packBytes(bytes: Buffer): Promise<{ readonly [field: string]: Json }> {
  const packed = (await pack(bytes)) as Buffer;
  return { [HAS_ZSTD ? "zstd" : "deflate"]: packed.toString("base64") };
}

function unpackBytes(value: unknown, maxOutputLength: number): Buffer | undefined {
  const { zstd, deflate } = toObject(value) ?? {};
  const options = { maxOutputLength: Math.max(1, maxOutputLength) };
  try {
    if (typeof zstd === "string") return zlib.zstdDecompressSync(Buffer.from(zstd, "base64"), options);
    if (typeof deflate === "string") return zlib.inflateRawSync(Buffer.from(deflate, "base64"), options);
  } catch {
    // The caller reports the damage with the file.
  }
  return undefined;
}

function computeDigest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

function sumBytes(pieces: readonly Piece[]): number {
  return pieces.reduce((total, [, sizeBytes]) => total + sizeBytes, 0);
}

/** Names a path below the home folder by "~/", because the home may be another one when it is restored. */
function shortenPath(path: string): string {
  const home = homedir();
  return isWithin(path, home) && path !== home ? `~/${relative(home, path).split(sep).join("/")}` : path;
}

function parseFiles(progress: Json | undefined): readonly OriginalFile[] {
  return toArray(progress).flatMap((value) => {
    const { path, modifiedAt, pieces } = toObject(value) ?? {};
    if (toText(path) === undefined) return [];
    return [
      {
        path: String(path),
        modifiedAt: toNumber(modifiedAt) ?? 0,
        pieces: toArray(pieces) as readonly Piece[],
      },
    ];
  });
}
