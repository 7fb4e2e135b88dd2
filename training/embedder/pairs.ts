import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Two texts with nearly the same meaning, or a question and its answer. */
export interface Pair {
  readonly a: string;
  readonly b: string;
  readonly kind: string;
  readonly lang: string;
  readonly source: string;
}

/** The held-out pairs, which are never trained on. */
export const HELD_OUT = "heldout.jsonl.gz";

/** Reads the pairs of a JSON Lines file, compressed with gzip or not. */
export function readPairs(path: string): Pair[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Pair);
}

/** The files of training pairs in a folder, in a fixed order. */
export function trainingFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /\.jsonl(\.gz)?$/.test(name) && name !== HELD_OUT)
    .sort()
    .map((name) => join(folder, name));
}
