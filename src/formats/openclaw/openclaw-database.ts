import type { ImportSource } from "../port/format.ts";
import type { Item, ProblemItem } from "../port/item.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { Input } from "../reading/input.ts";
import type { SourceDatabase } from "../reading/source-database.ts";
import { nameArchives, readArchive } from "./archives.ts";
import { describeSchemaFault } from "./openclaw-schema.ts";
import { addSessionFacts } from "./openclaw-session-files.ts";
import { readRegisteredSessions } from "./registered-sessions.ts";
import { readEvents } from "./transcript-events.ts";

/** Reads one conversation of a database. */
export async function* readOpenclawDatabase(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const { path, id } = source;
  const problem = (reason: string): ProblemItem => ({ type: "problem", path, severity: "lost", reason });
  let database: SourceDatabase | undefined;
  try {
    database = await input.database(path);
    const fault = await describeSchemaFault(database);
    if (fault !== undefined) {
      yield problem(`cannot be read: ${fault}`);
      return;
    }
    const archive = (await nameArchives(database)).get(id);
    const live = await database.first("SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1", id);
    if (!archive && !live) yield problem(`holds no session ${id}`);
    const session = (await readRegisteredSessions(database)).get(archive?.session ?? id);
    const items = archive
      ? readArchive(archive, source, input, database)
      : readEvents(source, input, database);
    for await (const item of items)
      yield item.type === "session" && item.meta
        ? { ...item, meta: addSessionFacts(item.meta, session) }
        : item;
  } catch (error) {
    yield problem(describeDatabaseFault(error));
  } finally {
    await database?.close();
  }
}
