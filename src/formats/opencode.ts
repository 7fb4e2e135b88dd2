import { basename, join } from "node:path";
import { definedFields, objectOf, textOf, timeOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import { readDatabase } from "./opencode/database.ts";
import { databaseSources } from "./opencode/database-sources.ts";
import { OpencodeDecoder } from "./opencode/decoder.ts";
import { readExportFile } from "./opencode/export-file.ts";
import { readStorageFolder, sessionFiles, storageSources } from "./opencode/storage-folder.ts";
import type { Stored } from "./opencode/stored.ts";
import type { FileFacts, Folder } from "./reading/folder.ts";
import type { Input } from "./reading/input.ts";
import { readJsonElements } from "./reading/json-elements.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import { READ_LIMITS } from "./reading/limits.ts";

/** Conversations of opencode: in its database, in the older file tree, and in exported files. */
export const opencode: Format = {
  name: "opencode",
  title: "opencode",
  processes: ["opencode"],

  homes({ home, env }) {
    return [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode")];
  },

  async detect(folder) {
    const sources: Source[] = [...(await storageSources(folder))];
    for (const file of folder.files) {
      if (await isDatabase(file, folder))
        for (const one of await databaseSources(file, await migratedIn(folder))) sources.push(one);
      else if (file.name.endsWith(".json"))
        for (const one of await exportSources(file, folder)) sources.push(one);
    }
    return sources;
  },

  async *read(source, input) {
    const decoder = new OpencodeDecoder();
    for await (const stored of readerOf(source)(source, input)) yield* decoder.decode(stored);
    yield* decoder.end();
  },
};

function readerOf({ paths }: Source): (source: Source, input: Input) => AsyncGenerator<Stored> {
  if (isDatabaseName(paths[0] ?? "")) return readDatabase;
  return paths.length > 1 ? readStorageFolder : readExportFile;
}

/** Maps session ids to the session files that the database was migrated from. */
async function migratedIn(folder: Folder): Promise<ReadonlyMap<string, string>> {
  const storage = folder.folders.includes("storage") ? await folder.folder("storage") : undefined;
  const files = storage ? await sessionFiles(storage) : [];
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

async function exportSources(file: FileFacts, folder: Folder): Promise<readonly Source[]> {
  const info = await exportedInfo(await folder.head(file));
  if (!info) return [];
  const own = textOf(info.id);
  const parent = textOf(info.parentID);
  const { path, sizeBytes, modifiedAt } = file;
  return [
    {
      format: "opencode",
      // The id may be redacted; the file is named after it.
      id: own?.startsWith("ses_") ? own : basename(file.name, ".json"),
      path,
      paths: [path],
      sizeBytes,
      modifiedAt: timeOf(objectOf(info.time)?.updated) ?? modifiedAt,
      ...definedFields({
        parent: parent?.startsWith("ses_") ? parent : undefined,
        title: textOf(info.title),
        cwd: textOf(info.directory),
      }),
    },
  ];
}

/** Reads session info from the beginning of an exported file; undefined if it is not an export. */
async function exportedInfo(head: string): Promise<JsonObject | undefined> {
  if (!/^\s*\{\s*"info"\s*:\s*\{/.test(head)) return undefined;
  const chunks = (async function* () {
    yield Buffer.from(head);
  })();
  const { maxRecordBytes } = READ_LIMITS;
  for await (const { field, value } of readJsonElements(chunks, { arrays: ["messages"], maxRecordBytes })) {
    const info = field === "info" ? objectOf(value) : undefined;
    if (info && textOf(info.id) !== undefined && objectOf(info.time) && "directory" in info) return info;
    break;
  }
  return undefined;
}
