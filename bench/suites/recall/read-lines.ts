import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Parses a JSON Lines file, decompressed if its name ends in `.gz`. */
export function readJsonLines<T>(path: string): T[] {
  return readText(path)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** Parses a JSON file, decompressed if its name ends in `.gz`. */
export function readJson<T>(path: string): T {
  return JSON.parse(readText(path)) as T;
}

function readText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}
