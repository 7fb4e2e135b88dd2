import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { digestContent, removeEmptyFolders, writeAtomically } from "./agent-file.ts";

const changeSchema = z.object({
  path: z.array(z.string()),
  /** Source text of the value before; null if the setting was absent. */
  before: z.string().nullable(),
  after: z.string(),
  /** Number of names in the path that existed before. */
  existingNames: z.number(),
});

const recordSchema = z.object({
  version: z.literal(1),
  agent: z.string(),
  path: z.string(),
  url: z.string(),
  at: z.number(),
  /** The file before: its mode, digest and bytes in base64; null if there was none. */
  before: z.object({ mode: z.number(), sha256: z.string(), content: z.string() }).nullable(),
  /** The uppermost folder that was made for the file, if any. */
  folder: z.string().optional(),
  /** Digest of the file that longhaul wrote. */
  sha256: z.string(),
  changes: z.array(changeSchema),
});

/** One changed setting of a file. */
export type SettingChange = z.infer<typeof changeSchema>;

/** A connection: the file before it, and the changes. */
export type ConnectionRecord = z.infer<typeof recordSchema>;

const FOLDER = "connections";

/** Reads the connections of a store's folder, oldest first; a damaged record counts as absent. */
export function listConnections(store: string): readonly ConnectionRecord[] {
  const folder = join(store, FOLDER);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  const records = names.flatMap((name) => {
    try {
      const record = recordSchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));
      const isWhole =
        record.before === null ||
        digestContent(Buffer.from(record.before.content, "base64")) === record.before.sha256;
      return isWhole ? [record] : [];
    } catch {
      return [];
    }
  });
  return records.sort((one, other) => one.at - other.at);
}

/** The connection of a file; the gateway and the MCP server of an agent may share one. */
export function findConnection(store: string, path: string, agent: string): ConnectionRecord | undefined {
  return listConnections(store).find((record) => record.path === path && record.agent === agent);
}

/** Stores a connection, readable only by the user: a configuration may contain keys. */
export function writeConnection(store: string, record: ConnectionRecord): void {
  mkdirSync(join(store, FOLDER), { recursive: true, mode: 0o700 });
  writeAtomically(getRecordPath(store, record), `${JSON.stringify(record, undefined, 2)}\n`, 0o600);
}

/** Removes a connection, and the folders of connections and store if nothing else is in them. */
export function removeConnection(store: string, record: ConnectionRecord): void {
  rmSync(getRecordPath(store, record), { force: true });
  removeEmptyFolders(join(store, FOLDER), store);
}

function getRecordPath(store: string, { agent, path }: ConnectionRecord): string {
  return join(store, FOLDER, `${agent}-${digestContent(path).slice(0, 8)}.json`);
}
