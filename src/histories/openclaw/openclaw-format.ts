import { basename, dirname, join } from "node:path";
import * as zlib from "node:zlib";
import type { Json } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";
import { toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { parsePiHeader } from "../pi/pi-header.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import { Input } from "../reading/input.ts";
import type { Item, ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type DatabaseRow, openSourceDatabase, type SourceDatabase } from "../reading/source-database.ts";
import { getArchivePath, nameArchives, readArchive } from "./archives.ts";
import { createOpenclawDecoder } from "./openclaw-decoder.ts";

/** Live transcripts, and those that a reset or deletion has renamed. */
const TRANSCRIPT = /\.jsonl(\.(?:reset|deleted|bak)\b.*)?$/;
const SESSIONS_FOLDER = /[/\\]agents[/\\][^/\\]+[/\\]sessions$/;
/** Folders of pi itself, named after the working folder. */
const PI_FOLDER = /^--.*--$/;
const OWN_ENTRY = /"customType"\s*:\s*"openclaw[.:]/;

/** Conversations of OpenClaw: pi sessions, in files up to 2026.7.1 and in one database per agent since. */
export const openclawFormat: Format = {
  name: "openclaw",
  title: "OpenClaw",
  processes: ["openclaw", "openclaw-gateway"],

  homes({ home, env }) {
    const state = env.OPENCLAW_STATE_DIR
      ? [env.OPENCLAW_STATE_DIR]
      : [".openclaw", ".clawdbot"].map((name) => join(home, name));
    return state.map((folder) => join(folder, "agents"));
  },

  async detect(folder) {
    const below = folder.folders.includes("agent") ? await folder.folder("agent") : undefined;
    const sources: ImportSource[] = [];
    // In an agent's folder, sessions in the database must not be read again from the older files.
    if (below?.files.some(isDatabase)) {
      const sessions = folder.folders.includes("sessions") ? await folder.folder("sessions") : undefined;
      const files = sessions ? await findSessionFileSources(sessions) : [];
      const leftovers = new Map(files.map(({ id, path }) => [id, path]));
      for (const file of below.files.filter(isDatabase))
        for (const one of await findOpenclawDatabaseSources(file, leftovers)) sources.push(one);
    }
    for (const file of folder.files.filter(isDatabase))
      for (const one of await findOpenclawDatabaseSources(file)) sources.push(one);
    return [...sources, ...(await findSessionFileSources(folder))];
  },

  read: (source, input) =>
    isDatabasePath(source.path) ? readOpenclawDatabase(source, input) : readSessionFile(source, input),
};

/** Events between two checkpoints. */
const CHECKPOINT_EVENTS = 500;

/** Maximum compressed size of an event in OpenClaw. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024;

function isDatabasePath(path: string): boolean {
  return /\.sqlite$/i.test(path);
}

function isDatabase({ name, path }: FileFacts): boolean {
  return isDatabasePath(path) && /^openclaw-agent\b/i.test(name);
}

/** Reads one conversation of a database. */
async function* readOpenclawDatabase(source: ImportSource, input: Input): AsyncGenerator<Item> {
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

/**
 * Finds the conversations in an agent's database. `leftovers` are older session files by session: the sources claim
 * them, but they are not read. If the list is unreadable, an extra source reports the problem when it is read.
 */
async function findOpenclawDatabaseSources(
  file: FileFacts,
  leftovers: ReadonlyMap<string, string> = new Map(),
): Promise<readonly ImportSource[]> {
  const { path } = file;
  const sources: ImportSource[] = [];
  let database: SourceDatabase | undefined;
  try {
    database = await openSourceDatabase(path);
    if (!hasTranscripts(database)) return [];
    if ((await describeSchemaFault(database)) !== undefined) return [buildUnreadableSource(file)];
    const sessions = await readRegisteredSessions(database);
    for await (const { id, share, modifiedAt } of listLiveSessions(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, leftovers.get(id)].filter((one) => one !== undefined),
        sizeBytes: Math.round(share * file.sizeBytes),
        modifiedAt: modifiedAt ?? file.modifiedAt,
        ...getSourceFacts(sessions.get(id)),
      });
    }
    for (const [id, archive] of await nameArchives(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, getArchivePath(path, archive)].filter((one) => one !== undefined),
        sizeBytes: archive.sizeBytes,
        modifiedAt: archive.archivedAt ?? file.modifiedAt,
        ...getSourceFacts(sessions.get(archive.session)),
      });
    }
  } catch (error) {
    describeDatabaseFault(error);
    sources.push(buildUnreadableSource(file));
  } finally {
    await database?.close();
  }
  return sources;
}

/** Builds a source whose read yields only a problem. */
function buildUnreadableSource(file: FileFacts): ImportSource {
  return buildFileSource("openclaw", file, { id: `${getAgentName(file.path)}/${basename(file.path)}` });
}

function getAgentName(path: string): string {
  const folder = dirname(path);
  return basename(folder) === "agent" ? basename(dirname(folder)) : basename(folder);
}

async function* listLiveSessions(database: SourceDatabase) {
  const all = await database.first("SELECT count(*) AS count FROM transcript_events");
  const hasTime = database.hasColumn("transcript_events", "created_at");
  for await (const { session_id, count, last } of database.rows(
    "SELECT session_id, count(*) AS count, max(seq) AS last FROM transcript_events GROUP BY session_id",
  )) {
    const id = String(session_id);
    const row = hasTime
      ? await database.first(
          "SELECT created_at FROM transcript_events WHERE session_id = ? AND seq = ?",
          id,
          Number(last),
        )
      : undefined;
    yield {
      id,
      /** Approximate share of the file. */
      share: Number(count) / Math.max(1, Number(all?.count)),
      modifiedAt: toTime(row?.created_at),
    };
  }
}

/** Tells whether a database is for transcripts; up to 2026.7.1, OpenClaw's databases held only other data. */
function hasTranscripts(database: SourceDatabase): boolean {
  const tables = ["transcript_events", "session_windows", "session_entries", "sessions"];
  return tables.some((table) => database.hasTable(table));
}

/** Describes missing columns of a database; undefined if it is readable. */
async function describeSchemaFault(database: SourceDatabase): Promise<string | undefined> {
  const columns = ["session_id", "seq", "event_json"];
  const missing = columns.filter((column) => !database.hasColumn("transcript_events", column));
  if (missing.length === 0) return undefined;
  const row = await database.first("SELECT user_version FROM pragma_user_version");
  return `version ${row?.user_version} of OpenClaw's schema has no ${missing.join(", ")} in transcript_events`;
}

/** Finds the conversations that OpenClaw keeps as files in a folder. */
async function findSessionFileSources(folder: Folder): Promise<readonly ImportSource[]> {
  if (PI_FOLDER.test(folder.name)) return [];
  const registry = folder.files.find(({ name }) => name === "sessions.json");
  const sessions = registry && (await readRegistry(registry));
  const isSessionsFolder = sessions !== undefined || SESSIONS_FOLDER.test(folder.path);
  const sources: ImportSource[] = [];
  const taken = new Set<string>();
  // Live transcripts come first and keep the id if an archived one has the same.
  const transcripts = folder.files.filter(({ name }) => TRANSCRIPT.test(name)).sort(compareLiveness);
  for (const file of transcripts) {
    const head = await folder.head(file);
    const header = parsePiHeader(head);
    if (!header || !(isSessionsFolder || OWN_ENTRY.test(head))) continue;
    const aside = TRANSCRIPT.exec(file.name)?.[1];
    const id = taken.has(header.id) && aside ? `${header.id}${aside}` : header.id;
    taken.add(id);
    const facts = { id, cwd: header.cwd, ...getSourceFacts(sessions?.get(header.id)) };
    sources.push(buildFileSource("openclaw", file, facts, registry && sessions ? [registry.path] : []));
  }
  return sources;
}

function compareLiveness(a: FileFacts, b: FileFacts): number {
  return Number(!a.name.endsWith(".jsonl")) - Number(!b.name.endsWith(".jsonl"));
}

/** Returns the facts of a listed session for its source. */
function getSourceFacts(
  session: RegisteredSession | undefined,
): Partial<Pick<ImportSource, "parent" | "title">> {
  return dropUndefined({ parent: session?.parent, title: session?.title });
}

async function readRegistry({
  path,
}: FileFacts): Promise<ReadonlyMap<string, RegisteredSession> | undefined> {
  const input = new Input({ root: dirname(path), paths: [path] });
  const read = await input.json(path).catch(() => undefined);
  const entries = read && "value" in read ? toObject(read.value) : undefined;
  return entries && indexSessions(Object.entries(entries));
}

/** Reads one conversation from a file. */
async function* readSessionFile(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const [path = "", registry] = source.paths;
  const listed = registry === undefined ? undefined : await input.json(registry);
  const entries = listed && "value" in listed ? toObject(listed.value) : undefined;
  const session = entries && indexSessions(Object.entries(entries)).get(headerId(source));
  for await (const item of decodeLines(input, path, (state) => createOpenclawDecoder(state)))
    yield item.type === "session" && item.meta
      ? { ...item, meta: addSessionFacts(item.meta, session) }
      : item;
}

/** The id in the header of a transcript: an archived one may have a suffix, to tell it from the live one. */
function headerId({ id, path }: ImportSource): string {
  const aside = TRANSCRIPT.exec(path)?.[1];
  return aside !== undefined && id.endsWith(aside) ? id.slice(0, -aside.length) : id;
}

/** Adds the facts of the session list to the session's meta. */
function addSessionFacts(
  meta: { readonly [key: string]: Json },
  session: RegisteredSession | undefined,
): { readonly [key: string]: Json } {
  if (!session) return meta;
  const { small } = splitLeftovers(session.entry);
  const own = toObject(meta.openclaw) as { readonly [key: string]: Json } | undefined;
  return { ...meta, openclaw: { ...own, sessionKey: session.key, ...(small && { session: small }) } };
}

/** An entry in OpenClaw's list of sessions. */
interface RegisteredSession {
  /** Key of the conversation across its sessions, such as `agent:main:main`. */
  readonly key: string;
  readonly entry: Leftovers;
  readonly title?: string;
  /** Session id of the parent. */
  readonly parent?: string;
}

/** Indexes a list of sessions by session id. */
function indexSessions(
  list: Iterable<readonly [key: string, entry: unknown]>,
): Map<string, RegisteredSession> {
  const entries = new Map<string, Leftovers>();
  for (const [key, value] of list) {
    const entry = toObject(value);
    if (entry && toText(entry.sessionId) !== undefined) entries.set(key, entry as Leftovers);
  }
  const sessions = new Map<string, RegisteredSession>();
  for (const [key, entry] of entries) {
    const parent = toText(entries.get(toText(entry.spawnedBy) ?? "")?.sessionId);
    const title = toText(entry.displayName) ?? toText(entry.label) ?? toText(entry.subject);
    const id = toText(entry.sessionId) as string;
    sessions.set(id, { key, entry, ...dropUndefined({ title, parent: parent === id ? undefined : parent }) });
  }
  return sessions;
}

/** Reads the list of sessions from the database. */
async function readRegisteredSessions(database: SourceDatabase): Promise<Map<string, RegisteredSession>> {
  const list: [string, unknown][] = [];
  const hasNodes = ["session_key", "current_session_id", "entry_json"].every((column) =>
    database.hasColumn("session_nodes", column),
  );
  if (hasNodes) {
    for await (const row of database.rows(
      "SELECT session_key, current_session_id, entry_json FROM session_nodes",
    ))
      list.push([
        String(row.session_key),
        { ...parseEntry(row.entry_json), sessionId: row.current_session_id },
      ]);
  }
  const sessions = indexSessions(list);
  if (!database.hasColumn("session_windows", "session_key")) return sessions;
  for await (const { session_id, session_key } of database.rows(
    "SELECT session_id, session_key FROM session_windows",
  )) {
    const id = toText(session_id);
    const key = toText(session_key);
    if (id !== undefined && key !== undefined && !sessions.has(id)) sessions.set(id, { key, entry: {} });
  }
  return sessions;
}

function parseEntry(json: unknown): object {
  try {
    return toObject(parseJson(String(json))) ?? {};
  } catch {
    return {};
  }
}

/** Read position in a transcript, with checks that detect a rewritten transcript. */
interface EventState {
  readonly seq: number;
  readonly check: string;
  readonly generation: string;
  readonly decoder: Json;
}

/** Reads the events of one transcript from where the last import stopped. */
async function* readEvents(
  source: ImportSource,
  input: Input,
  database: SourceDatabase,
): AsyncGenerator<Item> {
  const { id, path } = source;
  const generation = await readGeneration(database, id);
  const saved = await findResumeState(input, database, id, generation);
  const decoder = createOpenclawDecoder(saved?.decoder);
  let last = { seq: saved?.seq ?? -1, check: saved?.check ?? "", event: undefined as string | undefined };
  let count = 0;
  const checkpoint = (): Item => ({
    type: "checkpoint",
    state: { seq: last.seq, check: last.check, generation, decoder: decoder.state() },
  });
  for await (const row of database.rows(
    buildEventsQuery(database, input.limits.maxRecordBytes),
    id,
    last.seq,
  )) {
    input.signal?.throwIfAborted();
    const seq = Number(row.seq);
    const payload = parseEventPayload(row, input.limits.maxRecordBytes);
    if ("reason" in payload) {
      yield { type: "problem", path, severity: "lost", reason: `event ${seq} of ${id}: ${payload.reason}` };
      continue;
    }
    const { event, text } = payload;
    yield* decoder.decode({ record: event, line: seq, sizeBytes: text.length });
    const isEntry = event.type !== "session";
    last = { seq, check: computeFingerprint(text), event: isEntry ? toText(event.id) : last.event };
    if (++count % CHECKPOINT_EVENTS === 0) yield checkpoint();
  }
  if (count % CHECKPOINT_EVENTS !== 0) yield checkpoint();
  const leaf = await readLeaf(database, id, last.seq);
  if (leaf !== undefined && last.event !== undefined && leaf !== last.event)
    yield { type: "rewind", to: leaf };
}

/** Selects packed and unpacked events; events above the limit are not loaded. */
function buildEventsQuery(database: SourceDatabase, maxBytes: number): string {
  const isPacked = database.hasColumn("transcript_events", "event_zstd");
  const packed = isPacked
    ? `, CASE WHEN length(event_zstd) <= ${MAX_PACKED_BYTES} THEN event_zstd END AS event_zstd,
        coalesce(length(event_json), length(event_zstd)) AS size`
    : ", length(event_json) AS size";
  return `SELECT seq, CASE WHEN length(event_json) <= ${maxBytes} THEN event_json END AS event_json${packed}
    FROM transcript_events WHERE session_id = ? AND seq > ? ORDER BY seq`;
}

async function findResumeState(
  input: Input,
  database: SourceDatabase,
  session: string,
  generation: string,
): Promise<EventState | undefined> {
  const saved = toObject(input.resume) as Partial<EventState> | undefined;
  const seq = toNumber(saved?.seq);
  if (!saved || seq === undefined || saved.generation !== generation) return undefined;
  const row = await database.first(buildEventsQuery(database, input.limits.maxRecordBytes), session, seq - 1);
  const payload =
    row && Number(row.seq) === seq ? parseEventPayload(row, input.limits.maxRecordBytes) : undefined;
  const isSame = payload && "text" in payload && computeFingerprint(payload.text) === saved.check;
  return isSame ? (saved as EventState) : undefined;
}

/** Returns the generation, which changes when OpenClaw rewrites a transcript. */
async function readGeneration(database: SourceDatabase, session: string): Promise<string> {
  if (!database.hasColumn("transcript_rewrite_watermarks", "generation")) return "";
  const row = await database.first(
    "SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = ?",
    session,
  );
  return String(row?.generation ?? "");
}

/** Returns the last entry of the active branch, if OpenClaw's index covers everything up to `seq`. */
async function readLeaf(database: SourceDatabase, session: string, seq: number): Promise<string | undefined> {
  const table = "session_transcript_index_state";
  const columns = ["leaf_event_id", "indexed_seq", "needs_rebuild"];
  if (!columns.every((column) => database.hasColumn(table, column))) return undefined;
  const row = await database.first(
    `SELECT leaf_event_id FROM ${table} WHERE session_id = ? AND indexed_seq = ? AND needs_rebuild = 0`,
    session,
    seq,
  );
  return toText(row?.leaf_event_id);
}

/** An event of a transcript, or the reason why it is unreadable. */
type EventPayload = { readonly event: JsonObject; readonly text: string } | { readonly reason: string };

/** Parses the event in a row: text, or compressed with zstd. */
function parseEventPayload(row: DatabaseRow, maxBytes: number): EventPayload {
  const text = readRowText(row, maxBytes);
  if (typeof text !== "string") return text;
  try {
    const event = toObject(parseJson(text));
    return event ? { event, text } : { reason: "not a JSON object" };
  } catch (error) {
    return { reason: describeJsonFault(error) };
  }
}

function readRowText(
  { event_json, event_zstd, size }: DatabaseRow,
  maxBytes: number,
): string | { reason: string } {
  if (typeof event_json === "string") return event_json;
  if (!(event_zstd instanceof Uint8Array))
    return { reason: Number(size) > 0 ? `longer than allowed (${size} bytes); not read` : "holds nothing" };
  if (typeof zlib.zstdDecompressSync !== "function")
    return { reason: "packed with zstd, which this version of Node cannot unpack; use Node 22.15 or later" };
  try {
    return zlib.zstdDecompressSync(event_zstd, { maxOutputLength: maxBytes }).toString("utf8");
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return {
      reason: isLarge ? `longer than ${maxBytes} bytes unpacked; not read` : (error as Error).message,
    };
  }
}
