import * as zlib from "node:zlib";
import { describeJsonFault, parseJson } from "../../base/parse-json.ts";
import { toObject } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { DatabaseRow } from "../reading/source-database.ts";

/** Maximum compressed size of an event in OpenClaw. */
export const MAX_PACKED_BYTES = 4 * 1024 * 1024;

/** An event of a transcript, or the reason why it is unreadable. */
type EventPayload = { readonly event: JsonObject; readonly text: string } | { readonly reason: string };

/** Parses the event in a row: text, or compressed with zstd. */
export function parseEventPayload(row: DatabaseRow, maxBytes: number): EventPayload {
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
