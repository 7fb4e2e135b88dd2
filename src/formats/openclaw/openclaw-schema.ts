import type { SourceDatabase } from "../reading/source-database.ts";

/** Tells whether a database is for transcripts; up to 2026.7.1, OpenClaw's databases held only other data. */
export function hasTranscripts(database: SourceDatabase): boolean {
  const tables = ["transcript_events", "session_windows", "session_entries", "sessions"];
  return tables.some((table) => database.hasTable(table));
}

/** Describes missing columns of a database; undefined if it is readable. */
export async function describeSchemaFault(database: SourceDatabase): Promise<string | undefined> {
  const columns = ["session_id", "seq", "event_json"];
  const missing = columns.filter((column) => !database.hasColumn("transcript_events", column));
  if (missing.length === 0) return undefined;
  const row = await database.first("SELECT user_version FROM pragma_user_version");
  return `version ${row?.user_version} of OpenClaw's schema has no ${missing.join(", ")} in transcript_events`;
}
