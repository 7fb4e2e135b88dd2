import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The concatenated text of real files. */
export interface RealText {
  readonly bytes: Buffer;
  readonly files: readonly RealFile[];
}

/** A real file; its text spans `start` to `end`. */
export interface RealFile {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Root of the repository. */
export const ROOT_FOLDER = fileURLToPath(new URL("../", import.meta.url));

/** Folders that exist in every clone after the first install, and our own sources and pages. */
const FOLDERS = ["node_modules", "src", "test", "docs", "bench"];
const TEXT_FILE = /(?:\.md|\.d\.[cm]?ts|\.[cm]?js|\.ts|package\.json)$/;
/** Minified and generated files and single-platform packages, which differ from the text that agents read and write. */
const LEFT_OUT =
  /(?:^|\/)(?:\.|peers\/node_modules|[^/]*\.min\.|[^/]*-(?:linux|darwin|win32)-|typescript\/dist\/|lightningcss\/|@types\/chai\/)/;
/** Larger files are bundles; they are cut, or a few of them would dominate the text. */
const MAX_FILE_BYTES = 400_000;
const MIN_FILE_BYTES = 200;

/** Reads all prose and code that exists in every clone. */
export function readRealText(): RealText {
  const chunks: Buffer[] = [];
  const files: RealFile[] = [];
  let start = 0;
  for (const path of FOLDERS.flatMap(textFilesIn)) {
    const bytes = readFileSync(join(ROOT_FOLDER, path)).subarray(0, MAX_FILE_BYTES);
    if (bytes.length < MIN_FILE_BYTES) continue;
    chunks.push(bytes);
    files.push({ path, start, end: start + bytes.length });
    start += bytes.length;
  }
  return { bytes: Buffer.concat(chunks), files };
}

function textFilesIn(folder: string): string[] {
  return readdirSync(join(ROOT_FOLDER, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT_FOLDER.length).replaceAll(sep, "/"))
    .filter((path) => !LEFT_OUT.test(path))
    .sort();
}
