import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionId } from "../../kernel/index.ts";

/** The last listing of sessions, in the folder of the store: numbers are places in it. */
const FILE = "listing.json";
const MAX_LISTED = 100_000;

/** Reads the ids of the last listing, in order; empty if there is none. */
export async function readListing(store: string): Promise<readonly SessionId[]> {
  try {
    const ids: unknown = JSON.parse(await readFile(join(store, FILE), "utf8")).sessions;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

/** Stores a listing. A store that cannot be written keeps the earlier numbers. */
export async function writeListing(store: string, sessions: readonly SessionId[]): Promise<void> {
  const path = join(store, FILE);
  const staged = `${path}.${randomUUID()}`;
  try {
    await writeFile(staged, JSON.stringify({ sessions: sessions.slice(0, MAX_LISTED) }), { mode: 0o600 });
    await rename(staged, path);
  } catch {
    await rm(staged, { force: true }).catch(() => undefined);
  }
}

/** Finds the session that the last listing gave a number, such as "3" or "#3". */
export async function findListed(store: string, wanted: string): Promise<SessionId | undefined> {
  const number = /^#?([1-9]\d{0,5})$/.exec(wanted)?.[1];
  return number === undefined ? undefined : (await readListing(store))[Number(number) - 1];
}
