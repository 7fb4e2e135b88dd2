import * as zlib from "node:zlib";
import { computeFingerprint } from "../../base/digest.ts";
import { describeJsonFault, parseJson } from "../../base/parse-json.ts";
import type { Json } from "../../index.ts";
import { toNumber, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { DatabaseRow, SourceDatabase } from "../reading/source-database.ts";
import { createOpenclawDecoder } from "./openclaw-decoder.ts";

/** Events between two checkpoints. */
const CHECKPOINT_EVENTS = 500;

/** Maximum compressed size of an event in OpenClaw. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024;

/** Read position in a transcript, with checks that detect a rewritten transcript. */
interface EventState {
  readonly seq: number;
  readonly check: string;
  readonly generation: string;
  readonly decoder: Json;
}

/** Reads the events of one transcript from where the last import stopped. */
export async function* readEvents(
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
