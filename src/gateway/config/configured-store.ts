import { readFileSync } from "node:fs";
import { isPostgresUrl } from "../../base/postgres-url.ts";
import { type FilePlaces, findUserFile, readUserFile } from "./config-files.ts";

/** The setting in the text of a file that cannot be parsed. */
const STORE_SETTING = /"store"\s*:\s*"postgres/i;

/**
 * The URL of the database that the user's file names as the store; undefined if it names none. Reads that setting only:
 * problems of the file are reported by whoever reads all of it. Throws CONFIG_INVALID if an unusable file seems to name
 * a database, because another store must not be used in its place.
 */
export function readConfiguredStore(places: FilePlaces): string | undefined {
  const path = findUserFile(places);
  if (path === undefined) return undefined;
  try {
    const { store } = (readUserFile(path) ?? {}) as { readonly store?: unknown };
    return typeof store === "string" && isPostgresUrl(store) ? store : undefined;
  } catch (error) {
    if (STORE_SETTING.test(readText(path))) throw error;
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
