import type { Json, PartInput, ToolCallPart } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { sniffMime } from "../../model/mime.ts";
import { omitFields, toObject, toText } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import type { Leftovers } from "../content/leftovers.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A converted part, and opencode's fields that it cannot represent. */
interface OpencodePart {
  readonly part: PartInput;
  readonly rest?: Leftovers;
}

/** Ids that repeat on every part. */
const OWNER_FIELDS = ["messageID", "sessionID"];

/** Converts a part; unknown parts stay raw. Tools and steps are handled elsewhere. */
export function decodeOpencodePart(value: unknown): OpencodePart {
  const part = toObject(value);
  if (!part) return { part: { type: "raw", format: "opencode", value: value as Json } };
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") break;
      return withRest(part, { type: "text", text: part.text }, ["text"]);
    case "reasoning":
      if (typeof part.text !== "string") break;
      return withRest(
        part,
        { type: "reasoning", text: part.text, ...dropUndefined({ opaque: part.metadata as Json }) },
        ["text", "metadata"],
      );
    case "file":
      return decodeOpencodeFile(part);
  }
  return { part: { type: "raw", format: "opencode", value: (omitFields(part, OWNER_FIELDS) ?? {}) as Json } };
}

/** Converts a file to data if its URL contains the bytes, else keeps it raw: a link's target may have changed since. */
export function decodeOpencodeFile(part: JsonObject): OpencodePart {
  const data = parseDataUrl(part.url, toText(part.filename));
  if (!data)
    return {
      part: { type: "raw", format: "opencode", value: (omitFields(part, OWNER_FIELDS) ?? {}) as Json },
    };
  const shown = sniffMime(Buffer.from(String(data.data).slice(0, 64), "base64"));
  return withRest(part, data, [
    "url",
    "filename",
    ...(shown === part.mime || data.mime === part.mime ? ["mime"] : []),
  ]);
}

/** Converts the call of a tool part. */
export function decodeOpencodeCall(part: JsonObject, callId: string): OpencodePart {
  const state = toObject(part.state) ?? {};
  const hasEnded = isEnded(state);
  const call: ToolCallPart = {
    type: "tool-call",
    callId,
    name: toText(part.tool) ?? "",
    input: (state.input ?? {}) as Json,
  };
  const known = ["tool", "state", ...(part.callID === callId ? ["callID"] : [])];
  const { rest } = withRest(part, call, known);
  // The state of a finished call goes with its result.
  const open = hasEnded ? undefined : omitFields(state, ["input"]);
  return { part: call, ...dropUndefined({ rest: open ? { ...rest, state: open } : rest }) };
}

/** Tells whether a tool has finished. */
export function isEnded(state: JsonObject): boolean {
  return state.status === "completed" || state.status === "error";
}

function withRest(part: JsonObject, ours: PartInput, known: readonly string[]): OpencodePart {
  const rest = omitFields(part, ["type", ...OWNER_FIELDS, ...known]);
  return { part: ours, ...dropUndefined({ rest }) };
}
