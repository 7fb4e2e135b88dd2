import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configInvalid } from "./problem.ts";

const NAMES = ["longhaul.json", "longhaul.gateway.json"];

/** Where a configuration file is looked for. */
export interface FilePlaces {
  /** The file that was named; then no other is looked for. */
  readonly path?: string;
  readonly cwd: string;
  /** The folder of the store. */
  readonly store?: string;
}

/** The files that would be read, the first that exists. */
export function candidateFiles({ path, cwd, store }: FilePlaces): readonly string[] {
  if (path !== undefined) return [resolve(cwd, path)];
  return [cwd, ...(store === undefined ? [] : [store])].flatMap((folder) =>
    NAMES.map((name) => join(folder, name)),
  );
}

/** The file that is read; undefined if there is none. */
export function findFile(places: FilePlaces): string | undefined {
  return candidateFiles(places).find((path) => places.path !== undefined || existsSync(path));
}

/** What the file says; CONFIG_INVALID tells why it cannot be read. */
export function readFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === undefined
          ? `it is no JSON: ${message}`
          : message;
    throw configInvalid([{ key: "--config", message: `${path} cannot be read: ${why}.` }]);
  }
}
