import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";
import { toObject } from "../../wire/fields.ts";
import type { Format, ImportSource, SourceFacts } from "../port/format.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item, ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { openSourceDatabase, type SourceDatabase } from "../reading/source-database.ts";

/** A conversation in a database. */

/** The description of an agent that keeps conversations in SQLite. */
interface DatabaseDescription
  extends Pick<Format, "name" | "title" | "homes" | "retention">,
    Partial<Pick<Format, "processes">> {
  /** Names of the database files. */
  readonly fileName: RegExp;
  /** Columns that the agent's tables have. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  list(database: SourceDatabase): AsyncGenerator<SourceFacts>;
  read(database: SourceDatabase, source: ImportSource, input: Input): AsyncGenerator<Item>;
}

/** Databases that were listed, so that a survey opens one again only after a change. */
const MAX_LISTED = 100;
const listed = new Map<string, { readonly state: string; readonly sources: readonly ImportSource[] }>();

/** Creates the reader of an agent that keeps conversations in SQLite. */
export function createDatabaseFormat(description: DatabaseDescription): Format {
  const { name, title, processes = [], retention, fileName } = description;
  return {
    name,
    title,
    processes,
    homes: (system) => description.homes(system),
    ...(retention && { retention }),
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!fileName.test(file.name) || file.sizeBytes === 0) continue;
        const journal = folder.files.find((other) => other.name === `${file.name}-wal`);
        for (const source of await listConversations(description, file, journal)) sources.push(source);
      }
      return sources;
    },
    async *read(source, input) {
      let database: SourceDatabase | undefined;
      try {
        database = await input.database(source.path);
        yield* description.read(database, source, input);
      } catch (error) {
        const reason = describeDatabaseFault(error);
        yield { type: "problem", path: source.path, severity: "lost", reason };
      } finally {
        await database?.close();
      }
    },
  };
}

async function listConversations(
  description: DatabaseDescription,
  file: FileFacts,
  journal: FileFacts | undefined,
): Promise<readonly ImportSource[]> {
  const { name: format } = description;
  const key = `${format}\n${Object.keys(description.tables).join()}\n${file.path}`;
  const state = [file, journal].map((one) => `${one?.sizeBytes} ${one?.modifiedAt}`).join();
  const known = listed.get(key);
  if (known?.state === state) return known.sources;
  const sources: ImportSource[] = [];
  const { path } = file;
  const modifiedAt = Math.max(file.modifiedAt, journal?.modifiedAt ?? 0);
  let database: SourceDatabase | undefined;
  try {
    database = await openSourceDatabase(path);
    const opened = database;
    const isOwn = Object.entries(description.tables).every(([table, columns]) =>
      columns.every((column) => opened.hasColumn(table, column)),
    );
    if (isOwn)
      for await (const { modifiedAt: own, ...facts } of description.list(database))
        sources.push({
          format,
          path,
          paths: [path],
          sizeBytes: 0,
          modifiedAt: own ?? modifiedAt,
          ...dropUndefined(facts),
        });
  } catch (error) {
    describeDatabaseFault(error);
    // A source named after the file reports the fault when it is read.
    sources.push({
      format,
      id: file.name,
      isUnnamed: true,
      path,
      paths: [path],
      sizeBytes: file.sizeBytes,
      modifiedAt,
    });
  } finally {
    await database?.close();
  }
  const share = Math.round(file.sizeBytes / Math.max(1, sources.length));
  const shared = sources.map((source) => ({ ...source, sizeBytes: share }));
  if (listed.size >= MAX_LISTED) listed.clear();
  listed.set(key, { state, sources: shared });
  return shared;
}

/** Parses the JSON text of a column; a problem if it is damaged. */
export function parseColumn(
  value: unknown,
  where: string,
  path: string,
): { readonly value: unknown } | ProblemItem {
  try {
    return { value: value === null || value === undefined ? undefined : parseJson(String(value)) };
  } catch (error) {
    return { type: "problem", path, severity: "damaged", reason: `${where}: ${describeJsonFault(error)}` };
  }
}

/** Parses the JSON text of a column that may be damaged; undefined unless it is an object. */
export function parseObjectColumn(value: unknown): JsonObject | undefined {
  const parsed = parseColumn(value, "", "");
  return "value" in parsed ? toObject(parsed.value) : undefined;
}
