import { basename, join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { type JsonElement, readJsonElements } from "../reading/json-elements.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { READ_LIMITS } from "../reading/read-limits.ts";
import { readOpencodeDatabase } from "./opencode-database.ts";
import { findOpencodeDatabaseSources } from "./opencode-database-sources.ts";
import { OpencodeDecoder } from "./opencode-decoder.ts";
import type { StoredItem } from "./stored-item.ts";

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

/** Conversations of opencode: in its database, in the older file tree, and in exported files. */
export const opencodeFormat: Format = {
  name: "opencode",
  title: "opencode",
  processes: ["opencode"],

  homes({ home, env }) {
    return [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode")];
  },

  async detect(folder) {
    const sources: ImportSource[] = [...(await findStorageSources(folder))];
    for (const file of folder.files) {
      if (await isDatabase(file, folder))
        for (const one of await findOpencodeDatabaseSources(file, await findMigratedFiles(folder)))
          sources.push(one);
      else if (file.name.endsWith(".json"))
        for (const one of await findExportSources(file, folder)) sources.push(one);
    }
    return sources;
  },

  copy: (source, input) => (isDatabaseName(source.path) ? copyOpencodeSession(source, input) : noCopy()),

  async *read(source, input) {
    const decoder = new OpencodeDecoder();
    for await (const stored of chooseReader(source)(source, input)) yield* decoder.decode(stored);
    yield* decoder.end();
  },
};

async function* noCopy(): AsyncGenerator<string> {}

function chooseReader({
  paths,
}: ImportSource): (source: ImportSource, input: Input) => AsyncGenerator<StoredItem> {
  if (isDatabaseName(paths[0] ?? "")) return readOpencodeDatabase;
  return paths.length > 1 ? readStorageFolder : readExportFile;
}

/** Maps session ids to the session files that the database was migrated from. */
async function findMigratedFiles(folder: Folder): Promise<ReadonlyMap<string, string>> {
  const storage = folder.folders.includes("storage") ? await folder.folder("storage") : undefined;
  const files = storage ? await listSessionFiles(storage) : [];
  return new Map(files.map(({ name, path }) => [basename(name, ".json"), path]));
}

function isDatabaseName(path: string): boolean {
  return /\.(db|sqlite3?)$/i.test(path);
}

/** Other databases are opened only if the user named them, because opening may copy the file. */
async function isDatabase(file: FileFacts, folder: Folder): Promise<boolean> {
  if (!isDatabaseName(file.path)) return false;
  const isLikely = /opencode/i.test(file.name) || (folder.files.length === 1 && folder.folders.length === 0);
  // A file with opencode's own name is always opened, so that damage is reported.
  if (/^opencode(-[\w.-]+)?\.db$/i.test(file.name)) return file.sizeBytes > 0;
  return isLikely && (await folder.head(file)).startsWith("SQLite format 3\0");
}

async function findExportSources(file: FileFacts, folder: Folder): Promise<readonly ImportSource[]> {
  const info = await readExportInfo(await folder.head(file));
  if (!info) return [];
  const own = toText(info.id);
  const parent = toText(info.parentID);
  const facts = {
    // The id may be redacted; the file is named after it.
    id: own?.startsWith("ses_") ? own : basename(file.name, ".json"),
    modifiedAt: toTime(toObject(info.time)?.updated),
    parent: parent?.startsWith("ses_") ? parent : undefined,
    title: toText(info.title),
    cwd: toText(info.directory),
  };
  return [buildFileSource("opencode", file, facts)];
}

/** Reads session info from the beginning of an exported file; undefined if it is not an export. */
async function readExportInfo(head: string): Promise<JsonObject | undefined> {
  if (!/^\s*\{\s*"info"\s*:\s*\{/.test(head)) return undefined;
  const chunks = (async function* () {
    yield Buffer.from(head);
  })();
  const { maxRecordBytes } = READ_LIMITS;
  for await (const { field, value } of readJsonElements(chunks, { arrays: ["messages"], maxRecordBytes })) {
    const info = field === "info" ? toObject(value) : undefined;
    if (info && toText(info.id) !== undefined && toObject(info.time) && "directory" in info) return info;
    break;
  }
  return undefined;
}

/** Yields a conversation of the database as `opencode export` writes it, for `opencode import`. */
async function* copyOpencodeSession(source: ImportSource, input: Input): AsyncGenerator<string> {
  let before = "";
  for await (const item of readOpencodeDatabase(source, input)) {
    if (item.type === "session") {
      yield `{"info":${JSON.stringify(item.info)},"messages":[`;
      before = "\n";
    } else if (item.type === "message" && before !== "") {
      const { info, parts } = item.message;
      const named = parts.map((part) => ({ ...(part as object), sessionID: source.id, messageID: info.id }));
      yield `${before}${JSON.stringify({ info: { ...info, sessionID: source.id }, parts: named })}`;
      before = ",\n";
    }
  }
  if (before !== "") yield "\n]}\n";
}

/** Reads a file of `opencode export`: the session and its messages. */
async function* readExportFile({ path }: ImportSource, input: Input): AsyncGenerator<StoredItem> {
  for await (const element of input.jsonElements(path, ["messages"])) {
    const { field, value } = element;
    const problem = input.elementProblem(path, element);
    if (problem) yield problem;
    if (value === undefined) continue;
    const stored = field === "messages" && element.index !== undefined ? toMessage(element) : undefined;
    if (stored) yield stored;
    else if (field === "info" && toObject(value)) yield { type: "session", info: toObject(value) ?? {} };
    else yield toOtherData(element);
  }
}

function toMessage({ value }: JsonElement): StoredItem | undefined {
  const info = toObject(toObject(value)?.info);
  return info && { type: "message", message: { info, parts: toArray(toObject(value)?.parts) } };
}

function toOtherData({ field, index, value }: JsonElement): StoredItem {
  const name = index === undefined ? field : `${field}#${index}`;
  return { type: "other", name, value: value as Json };
}

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

/** Finds the conversations in a folder that is the root of a file tree. */
async function findStorageSources(folder: Folder): Promise<readonly ImportSource[]> {
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
async function listSessionFiles(folder: Folder): Promise<readonly FileFacts[]> {
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
async function* readStorageFolder(source: ImportSource, input: Input): AsyncGenerator<StoredItem> {
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
