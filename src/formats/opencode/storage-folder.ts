import { basename, join } from "node:path";
import { parseJson } from "../../base/parse-json.ts";
import type { Json } from "../../index.ts";
import { dropUndefined, toArray, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { StoredItem } from "./stored-item.ts";

/** A layout of opencode's older file tree. */
interface StorageLayout {
  /** Folders with one file per session, relative to the root. */
  sessionFolders(root: Folder): Promise<readonly string[]>;
  readonly messages: string;
  /** The folder that holds one folder of parts per message, relative to the root. */
  parts(session: string): string;
  /** Folders with further files of a session. */
  readonly others: readonly string[];
}

/** Last layout before the database: `storage/{session/<project>,message/<session>,part/<message>}`. */
const BY_PROJECT: StorageLayout = {
  sessionFolders: async (root) =>
    ((await root.folder("session"))?.folders ?? []).map((project) => join("session", project)),
  messages: "message",
  parts: () => "part",
  others: ["todo", "session_diff"],
};

/** Earlier layout, below each project: `storage/session/{info,message/<session>,part/<session>/<message>}`. */
const BY_KIND: StorageLayout = {
  sessionFolders: async () => ["info"],
  messages: "message",
  parts: (session) => join("part", session),
  others: [],
};

/** Finds the conversations in a folder that is the root of a file tree. */
export async function findStorageSources(folder: Folder): Promise<readonly ImportSource[]> {
  const layout = detectLayout(folder);
  if (!layout) return [];
  const sources: ImportSource[] = [];
  for (const file of await listSessionFiles(folder)) {
    const facts = parseFacts(await folder.head(file));
    sources.push({ ...(await buildSource(file, folder, layout)), ...facts });
  }
  return sources;
}

/** Lists the session files of a file tree; none if the folder is not the root of one. */
export async function listSessionFiles(folder: Folder): Promise<readonly FileFacts[]> {
  const files: FileFacts[] = [];
  for (const name of (await detectLayout(folder)?.sessionFolders(folder)) ?? []) {
    const sessions = await folder.folder(name);
    for (const one of (sessions?.files ?? []).filter((file) => /^ses_\w+\.json$/.test(file.name)))
      files.push(one);
  }
  return files;
}

function detectLayout({ folders, name }: Folder): StorageLayout | undefined {
  if (folders.includes("session") && folders.includes("message")) return BY_PROJECT;
  return name === "session" && folders.includes("info") && folders.includes("message") ? BY_KIND : undefined;
}

/** Reads facts from a session file, if the head contains all of it. */
function parseFacts(head: string): Partial<Pick<ImportSource, "parent" | "title" | "cwd">> {
  try {
    const info = toObject(parseJson(head));
    const parent = toText(info?.parentID);
    return dropUndefined({ parent, title: toText(info?.title), cwd: toText(info?.directory) });
  } catch {
    return {};
  }
}

async function buildSource(file: FileFacts, root: Folder, layout: StorageLayout): Promise<ImportSource> {
  const id = basename(file.name, ".json");
  const messages = await root.folder(join(layout.messages, id));
  const files = [file, ...(messages?.files ?? [])];
  return {
    format: "opencode",
    id,
    path: file.path,
    // Parts are in folders by message: listing each would be as long as the conversation.
    paths: [
      file.path,
      join(root.path, layout.messages, id),
      join(root.path, layout.parts(id)),
      ...layout.others.map((name) => join(root.path, name, `${id}.json`)),
    ],
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedAt: files.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
  };
}

/** Reads one conversation of a file tree. */
export async function* readStorageFolder(source: ImportSource, input: Input): AsyncGenerator<StoredItem> {
  const [file = "", messages = "", parts = "", ...others] = source.paths;
  const session = yield* readObject(file, input);
  if (session) yield { type: "session", info: { ...session, id: source.id } };
  for (const { path, name } of (await input.folder(messages))?.files ?? []) {
    if (!name.endsWith(".json")) continue;
    const id = basename(name, ".json");
    const info = yield* readObject(path, input);
    if (!info) continue;
    const found: unknown[] = [];
    for (const part of (await input.folder(join(parts, id)))?.files ?? []) {
      const value = part.name.endsWith(".json") ? yield* readObject(part.path, input) : undefined;
      if (value) found.push({ ...value, id: basename(part.name, ".json") });
    }
    // The oldest messages contain their parts.
    const { parts: inner, ...rest } = info;
    const isInner = found.length === 0 && Array.isArray(inner);
    yield {
      type: "message",
      message: isInner
        ? { info: { ...rest, id }, parts: toArray(inner) }
        : { info: { ...info, id }, parts: found },
    };
  }
  for (const path of others) yield* readOther(path, input);
}

async function* readObject(path: string, input: Input): AsyncGenerator<StoredItem, JsonObject | undefined> {
  const read = await input.json(path);
  if (read === undefined) return undefined;
  if (!("value" in read)) {
    yield read;
    return undefined;
  }
  const value = toObject(read.value);
  if (!value) yield { type: "problem", path, severity: "lost", reason: "not a JSON object" };
  return value;
}

async function* readOther(path: string, input: Input): AsyncGenerator<StoredItem> {
  const read = await input.json(path);
  if (read === undefined) return;
  if (!("value" in read)) yield read;
  else yield { type: "other", name: basename(join(path, "..")), value: read.value as Json };
}
