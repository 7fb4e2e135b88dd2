import { basename, join } from "node:path";
import { dropUndefined, toObject, toText, toTime } from "../../wire/fields.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { readJsonElements } from "../reading/json-elements.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { READ_LIMITS } from "../reading/read-limits.ts";
import { copyOpencodeSession } from "./opencode-copy.ts";
import { readOpencodeDatabase } from "./opencode-database.ts";
import { findOpencodeDatabaseSources } from "./opencode-database-sources.ts";
import { OpencodeDecoder } from "./opencode-decoder.ts";
import { readExportFile } from "./read-export-file.ts";
import { findStorageSources, listSessionFiles, readStorageFolder } from "./storage-folder.ts";
import type { StoredItem } from "./stored-item.ts";

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
  const { path, sizeBytes, modifiedAt } = file;
  return [
    {
      format: "opencode",
      // The id may be redacted; the file is named after it.
      id: own?.startsWith("ses_") ? own : basename(file.name, ".json"),
      path,
      paths: [path],
      sizeBytes,
      modifiedAt: toTime(toObject(info.time)?.updated) ?? modifiedAt,
      ...dropUndefined({
        parent: parent?.startsWith("ses_") ? parent : undefined,
        title: toText(info.title),
        cwd: toText(info.directory),
      }),
    },
  ];
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
