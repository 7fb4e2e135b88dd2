import type { DataPart, Json, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import {
  countCopiedBytes,
  type NearbyMessage,
  splitCopies,
  type TextPieces,
} from "../deduplication/text-pieces.ts";
import type { Item, RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { FileElement } from "./element-file.ts";
import { hashRecordVersion } from "./record-version.ts";

/**
 * A shown image: a data URL in pieces, the head of a data URL whose content is the message's next part, or another
 * value.
 */
export type ShownImage = TextPieces | { readonly part: string } | Json;

/** A shown message without its copies: own fields and references. */
export interface ShownMessage {
  readonly shown: JsonObject;
  readonly text?: TextPieces;
  readonly images?: readonly ShownImage[];
}

/** Returns the kind of a shown message. */
export function getShownKind(shown: JsonObject): string | undefined {
  return toText(shown.type === "ask" ? shown.ask : shown.say);
}

/** Kinds that belong in the log for people, although no model saw them. */
const NOTICES = new Set([
  "error",
  "info",
  "diff_error",
  "api_req_failed",
  "api_req_retried",
  "api_req_rate_limit_wait",
  "condense_context_error",
  "clineignore_error",
  "rooignore_error",
  "shell_integration_warning",
  "mistake_limit_reached",
  "auto_approval_max_req_reached",
]);

/** Builds the id of a shown message from its index in the file. */
export function buildShownId(index: number): string {
  return `ui#${index}`;
}

/** Reads a request's usage in a dialect of the format. */
export type UsageReader = (info: JsonObject) => Usage;

/**
 * Emits the items of a shown message without content that the conversation repeats. It becomes a message only if it has
 * images that the conversation lacks.
 */
export function* decodeShownMessage(
  { index, value }: FileElement,
  nearby: readonly NearbyMessage[],
  format: "cline" | "roo",
  usageOf: UsageReader,
): Generator<Item> {
  const { kept, images, bytes } = stripCopies(value, nearby);
  if (bytes > 0) yield { type: "copy", bytes };
  const id = buildShownId(index);
  const base = {
    type: "record" as const,
    version: hashRecordVersion(value),
    ...dropUndefined({ at: toTime(value.ts) }),
  };
  const meta = { [format]: kept as unknown as Json };
  const usage = readShownUsage(value, usageOf);
  if (images.length > 0)
    yield { ...base, id, body: { kind: "message", message: { role: "user", parts: images, meta } } };
  else if (usage) yield { ...base, id, body: { ...buildShownUsageBody(value, usage, id), meta } };
  else yield { ...base, id, body: { kind: "raw", value: kept as unknown as Json } };
  const text = toText(value.text);
  if (text !== undefined && NOTICES.has(getShownKind(value) ?? ""))
    yield { ...base, id: `${id}:notice`, body: { kind: "notice", text } };
}

/** Builds the usage record of a request from the message that reports it. */
export function buildShownUsageBody(
  shown: JsonObject,
  usage: Usage,
  request: string,
): Extract<RecordBody, { kind: "usage" }> {
  const model = toObject(shown.modelInfo);
  return {
    kind: "usage",
    usage,
    request,
    ...dropUndefined({ model: toText(model?.modelId), provider: toText(model?.providerId) }),
  };
}

/** Reads the usage from a message that reports a request; undefined if there is none yet. */
export function readShownUsage(shown: JsonObject, usageOf: UsageReader): Usage | undefined {
  const kind = getShownKind(shown);
  const isReport = kind === "api_req_started" || kind === "deleted_api_reqs" || kind === "subagent_usage";
  const info = isReport ? parseJsonObject(shown.text) : toObject(shown.contextCondense);
  const usage = info && usageOf(info);
  return usage && Object.keys(usage).length > 0 ? usage : undefined;
}

/** Reads usage as Cline counts it: the input excludes cached tokens. */
export function decodeClineUsage(info: JsonObject): Usage {
  return dropUndefined({
    inputTokens: toNumber(info.tokensIn),
    outputTokens: toNumber(info.tokensOut),
    cacheWriteTokens: toNumber(info.cacheWrites),
    cacheReadTokens: toNumber(info.cacheReads),
    cost: toNumber(info.cost),
  });
}

/**
 * Subtracts cached tokens from an input count that includes them. A tool may also pass on a provider's own counts: an
 * input below its cached part cannot include it.
 */
export function subtractCachedTokens(usage: Usage): Usage {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = cacheReadTokens + cacheWriteTokens;
  return inputTokens === undefined || inputTokens < cached
    ? usage
    : { ...usage, inputTokens: inputTokens - cached };
}

/** Parses a text as a JSON object; undefined if it is not one. */
export function parseJsonObject(text: unknown): JsonObject | undefined {
  if (typeof text !== "string" || !text.startsWith("{")) return undefined;
  try {
    return toObject(parseJson(text));
  } catch {
    return undefined;
  }
}

interface StrippedMessage {
  readonly kept: ShownMessage;
  readonly images: readonly DataPart[];
  /** Number of bytes left out. */
  readonly bytes: number;
}

function stripCopies(value: JsonObject, nearby: readonly NearbyMessage[]): StrippedMessage {
  const text = splitText(value.text, nearby);
  const urls = toArray(value.images).map((url) => {
    const inPieces = splitText(url, nearby);
    return { url: url as Json, inPieces, part: inPieces ? undefined : parseDataUrl(url) };
  });
  const hasImages = urls.some(({ inPieces, part }) => inPieces ?? part);
  const left = [...(text ? ["text"] : []), ...(hasImages ? ["images"] : [])];
  return {
    kept: {
      shown: omitFields(value, left) ?? {},
      ...(text && { text: text.pieces }),
      ...(hasImages && {
        images: urls.map(({ url, inPieces, part }) => inPieces?.pieces ?? (part ? buildPartImage(url) : url)),
      }),
    },
    images: urls.flatMap(({ part }) => part ?? []),
    bytes: urls.reduce((sum, { inPieces }) => sum + (inPieces?.bytes ?? 0), text?.bytes ?? 0),
  };
}

/** Builds the placeholder for an image that became a part. */
export function buildPartImage(url: Json): ShownImage {
  return { part: String(url).slice(0, String(url).indexOf(",") + 1) };
}

function splitText(
  text: unknown,
  nearby: readonly NearbyMessage[],
): { pieces: TextPieces; bytes: number } | undefined {
  const pieces = typeof text === "string" ? splitCopies(text, nearby) : undefined;
  return pieces && { pieces, bytes: countCopiedBytes(text as string, pieces) };
}
