import type { Source } from "../format.ts";
import type { Item, ProblemItem } from "../item.ts";
import type { SourceDatabase } from "../reading/database.ts";
import { databaseFault } from "../reading/database-fault.ts";
import type { Input } from "../reading/input.ts";
import { namedArchives, readArchive } from "./archives.ts";
import { readEvents } from "./events.ts";
import { registeredIn } from "./registry.ts";
import { schemaFault } from "./schema.ts";
import { withFacts } from "./session-files.ts";

/** Reads one conversation of a database. */
export async function* readDatabase(source: Source, input: Input): AsyncGenerator<Item> {
  const { path, id } = source;
  const problem = (reason: string): ProblemItem => ({ type: "problem", path, severity: "lost", reason });
  let database: SourceDatabase | undefined;
  try {
    database = await input.database(path);
    const fault = schemaFault(database);
    if (fault !== undefined) {
      yield problem(`cannot be read: ${fault}`);
      return;
    }
    const archive = namedArchives(database).get(id);
    const [live] = database.rows("SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1", id);
    if (!archive && !live) yield problem(`holds no session ${id}`);
    const session = registeredIn(database).get(archive?.session ?? id);
    const items = archive
      ? readArchive(archive, source, input, database)
      : readEvents(source, input, database);
    for await (const item of items)
      yield item.type === "session" && item.meta ? { ...item, meta: withFacts(item.meta, session) } : item;
  } catch (error) {
    yield problem(databaseFault(error));
  } finally {
    await database?.close();
  }
}
