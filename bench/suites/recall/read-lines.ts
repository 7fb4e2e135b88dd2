import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** The JSON values of a file: one a line, or one for the whole file; a name that ends in `.gz` is unpacked. */
export function readJsonLines<T>(path: string): T[] {
  return readText(path)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** The one JSON value of a file, unpacked when its name ends in `.gz`. */
export function readJson<T>(path: string): T {
  return JSON.parse(readText(path)) as T;
}

function readText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}
