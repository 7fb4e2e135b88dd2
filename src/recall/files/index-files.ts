import { basename, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { MemoryStore, NewChunk, SourceRecord } from "../../log/store/memory-store.ts";
import { checkTexts } from "../../model/argument-checks.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { throwIfAborted } from "../../model/errors.ts";
import { analyzeText } from "../text/analyze-text.ts";
import { hashChunkText } from "../text/hash-chunk-text.ts";
import { detectTraits } from "../text/traits.ts";
import { splitFile } from "./file-chunks.ts";
import { isBinary, readSource } from "./read-source.ts";
import { isSecretFile } from "./secret-files.ts";
import { type FoundFile, walkFiles } from "./walk-files.ts";

/** A file that was left out, and why. */
interface SkippedFile {
  readonly path: string;
  readonly reason: "binary" | "too large" | "unreadable" | "may hold keys";
}

/** Progress of an indexing run. */
interface FileProgress {
  /** Files inspected so far. */
  readonly files: number;
  readonly path: string;
}

export interface IndexFilesOptions {
  /** Larger files are skipped; default 1 MB. */
  readonly maxFileBytes?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FileProgress) => void;
}

/** The result of an indexing run. */
export interface IndexedFiles {
  readonly files: number;
  /** Files that were indexed again. */
  readonly changed: number;
  readonly removed: number;
  readonly chunks: number;
  readonly skipped: readonly SkippedFile[];
}

const MAX_FILE_BYTES = 1_000_000;
/** Maximum number of skipped files that are listed. */
const MAX_SKIPPED = 1_000;
const FILES_PER_TURN = 32;
/** Version of the rules for reading texts; files indexed with other rules are read again. */
const RULES_VERSION = "masked-1 ";

/**
 * Indexes files and folders. A file with unchanged size and time is not read, and one with unchanged content is not
 * indexed again; missing and newly ignored files are removed from the index. An interrupted run continues with the next
 * call.
 */
export async function indexFiles(
  store: MemoryStore,
  paths: readonly string[],
  options: IndexFilesOptions = {},
): Promise<IndexedFiles> {
  const skipped: SkippedFile[] = [];
  const sum = { files: 0, changed: 0, removed: 0, chunks: 0 };
  for (const path of checkTexts("paths", paths)) {
    const root = resolve(path);
    const seen = new Set<string>();
    for await (const file of walkFiles(root, options.signal)) {
      sum.files++;
      options.onProgress?.({ files: sum.files, path: file.path });
      const done = await indexFile(store, root, file, options.maxFileBytes ?? MAX_FILE_BYTES);
      if (done.reason === undefined) seen.add(file.path);
      else if (skipped.length < MAX_SKIPPED) skipped.push({ path: file.path, reason: done.reason });
      if (done.chunks !== undefined) {
        sum.changed++;
        sum.chunks += done.chunks;
      }
      if (sum.files % FILES_PER_TURN === 0) await setImmediate();
    }
    sum.removed += await forgetOthers(store, root, seen, options.signal);
    while (await store.seal()) throwIfAborted(options.signal);
  }
  return { ...sum, skipped };
}

/** `chunks` is undefined for an unchanged file. */
async function indexFile(
  store: MemoryStore,
  root: string,
  file: FoundFile,
  maxBytes: number,
): Promise<{ chunks?: number; reason?: SkippedFile["reason"] }> {
  const name = { kind: "file", name: file.path } as const;
  const { sizeBytes, modifiedMs } = file;
  if (isSecretFile(basename(file.path))) return { reason: "may hold keys" };
  if (sizeBytes > maxBytes) return { reason: "too large" };
  const known = await store.source(name);
  if (known && isUntouched(known, root, file)) return {};
  const { stamp } = await store.state();
  const read = await readSource(file.path).catch(() => undefined);
  if (!read) return { reason: "unreadable" };
  const { bytes, text } = read;
  if (isBinary(bytes)) return { reason: "binary" };
  const version = `${RULES_VERSION}${computeDigest(bytes, 32)}`;
  const definitions = listDefinitions(text);
  const source = {
    ...name,
    root,
    version,
    cursor: 1,
    sizeBytes,
    modifiedMs,
    ...(definitions.length > 0 && { definitions }),
  };
  if (known?.version === version) {
    await store.add({ source, expected: known.cursor, stamp, chunks: [] });
    return {};
  }
  const chunks = buildFileChunks(text, relative(root, file.path) || file.path, modifiedMs);
  if (known) await store.forget(name);
  // If another process indexes the same file, its result stands.
  await store.add({ source, expected: undefined, stamp: (await store.state()).stamp, chunks });
  return { chunks: chunks.length };
}

function isUntouched(known: SourceRecord, root: string, file: FoundFile): boolean {
  return (
    known.root === root &&
    known.sizeBytes === file.sizeBytes &&
    known.modifiedMs === file.modifiedMs &&
    known.version.startsWith(RULES_VERSION)
  );
}

/** The first chunk is also found by the words of the file's path. */
function buildFileChunks(text: string, path: string, modifiedMs: number): NewChunk[] {
  const pathTerms = analyzeText(path.replaceAll(/[^\p{L}\p{N}]+/gu, " "));
  const made = splitFile(text).map(({ from, to }, index) => {
    const own = text.slice(from, to);
    const terms = analyzeText(own);
    return {
      seq: 0,
      turn: 1,
      part: 0,
      from,
      to,
      at: Math.round(modifiedMs),
      author: "none" as const,
      traits: detectTraits(own),
      hash: hashChunkText(own),
      terms: index === 0 ? [...pathTerms, ...terms] : terms,
    };
  });
  const turnLength = made.reduce((sum, { terms }) => sum + terms.length, 0);
  return made.filter(({ terms }) => terms.length > 0).map((chunk) => ({ ...chunk, turnLength }));
}

async function forgetOthers(
  store: MemoryStore,
  root: string,
  seen: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  for (let after = 0; ; ) {
    const page = await store.sources({ kind: "file", root, after, limit: 500 });
    for (const { kind, name } of page) {
      throwIfAborted(signal);
      if (seen.has(name)) continue;
      await store.forget({ kind, name });
      removed++;
    }
    if (page.length < 500) return removed;
    after = page.at(-1)?.number ?? after;
  }
}

const WORD = "[\\p{L}_$][\\p{L}\\p{N}_$]*";

/** Keywords that introduce a definition in the most common languages. */
const DEFINITION = new RegExp(
  `^[ \\t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\\([^)]*\\))?|unsafe|extern|override|inline|data|sealed|declare)[ \\t]+)*` +
    `(?:def|class|function\\*?|fn|func(?:[ \\t]*\\([^)]*\\))?|struct|enum|trait|interface|type|impl|module|namespace|record|object|macro_rules!|const|let|var)[ \\t]+(${WORD})`,
  "gmu",
);
/** Assignments at the left margin define constants in Python and shell. */
const CONSTANT = new RegExp(`^(${WORD})[ \\t]*(?::[^=\\n]{1,40})?=(?!=)`, "gmu");
const MAX_DEFINITIONS = 4_000;

/** The names that a source file defines, in order, without duplicates. */
export function listDefinitions(source: string): string[] {
  const names = new Set<string>();
  for (const pattern of [DEFINITION, CONSTANT]) {
    for (const match of source.matchAll(pattern)) {
      if (names.size >= MAX_DEFINITIONS) return [...names];
      if (match[1] !== undefined) names.add(match[1]);
    }
  }
  return [...names];
}
