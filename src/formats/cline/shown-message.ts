import type { DataPart, Json, Usage } from "../../index.ts";
import {
  arrayOf,
  definedFields,
  fieldsBesides,
  numberOf,
  objectOf,
  textOf,
  timeOf,
} from "../content/fields.ts";
import { dataPartOfUrl } from "../content/media.ts";
import type { Item, RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";
import { copiedBytes, type Nearby, type Pieces, piecesOf } from "./copies.ts";
import type { FileElement } from "./element-file.ts";
import { versionOf } from "./version.ts";

/**
 * A picture that was shown: a data URL in pieces; or one that is a part of the message, whose turn it is, by the head of
 * its URL; or whatever else stood there.
 */
export type ShownImage = Pieces | { readonly part: string } | Json;

/** What is kept of a message that the person was shown: its own fields, and where the rest of it stands. */
export interface Shown {
  readonly shown: JsonObject;
  readonly text?: Pieces;
  readonly images?: readonly ShownImage[];
}

/** What kind of message the person was shown. */
export function kindOf(shown: JsonObject): string | undefined {
  return textOf(shown.type === "ask" ? shown.ask : shown.say);
}

/** Things a person should see in the log although no model ever did. */
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

/** The id of a message that the person was shown, by its place in the file. */
export function shownId(index: number): string {
  return `ui#${index}`;
}

/** How a dialect of the format reads what a request has used. */
export type UsageReader = (info: JsonObject) => Usage;

/**
 * What a message that the person was shown means beside the conversation; what it repeats is left out. It is a message
 * only if it holds pictures that the conversation does not.
 */
export function* shownItems(
  { index, value }: FileElement,
  nearby: readonly Nearby[],
  format: "cline" | "roo",
  usageOf: UsageReader,
): Generator<Item> {
  const { kept, images, bytes } = withoutCopies(value, nearby);
  if (bytes > 0) yield { type: "copy", bytes };
  const id = shownId(index);
  const base = {
    type: "record" as const,
    version: versionOf(value),
    ...definedFields({ at: timeOf(value.ts) }),
  };
  const meta = { [format]: kept as unknown as Json };
  const usage = usageOfShown(value, usageOf);
  if (images.length > 0)
    yield { ...base, id, body: { kind: "message", message: { role: "user", parts: images, meta } } };
  else if (usage) yield { ...base, id, body: { ...usageBody(value, usage, id), meta } };
  else yield { ...base, id, body: { kind: "raw", value: kept as unknown as Json } };
  const text = textOf(value.text);
  if (text !== undefined && NOTICES.has(kindOf(value) ?? ""))
    yield { ...base, id: `${id}:notice`, body: { kind: "notice", text } };
}

/** The record of what a request has used, as far as the message that reports it tells. */
export function usageBody(
  shown: JsonObject,
  usage: Usage,
  request: string,
): Extract<RecordBody, { kind: "usage" }> {
  const model = objectOf(shown.modelInfo);
  return {
    kind: "usage",
    usage,
    request,
    ...definedFields({ model: textOf(model?.modelId), provider: textOf(model?.providerId) }),
  };
}

/** What a request has used, if the message reports one; undefined as long as nothing is known. */
export function usageOfShown(shown: JsonObject, usageOf: UsageReader): Usage | undefined {
  const kind = kindOf(shown);
  const isReport = kind === "api_req_started" || kind === "deleted_api_reqs" || kind === "subagent_usage";
  const info = isReport ? parsedObject(shown.text) : objectOf(shown.contextCondense);
  const usage = info && usageOf(info);
  return usage && Object.keys(usage).length > 0 ? usage : undefined;
}

/** Usage as Cline counts it: what is cached is not part of the input. */
export function clineUsage(info: JsonObject): Usage {
  return definedFields({
    inputTokens: numberOf(info.tokensIn),
    outputTokens: numberOf(info.tokensOut),
    cacheWriteTokens: numberOf(info.cacheWrites),
    cacheReadTokens: numberOf(info.cacheReads),
    cost: numberOf(info.cost),
  });
}

/**
 * Usage of a tool whose input includes what is cached, except where it passed on a provider's own counts: input that is
 * less than its cached part cannot include it.
 */
export function withoutCached(usage: Usage): Usage {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = cacheReadTokens + cacheWriteTokens;
  return inputTokens === undefined || inputTokens < cached
    ? usage
    : { ...usage, inputTokens: inputTokens - cached };
}

/** The object that a text is in JSON, or undefined. */
export function parsedObject(text: unknown): JsonObject | undefined {
  if (typeof text !== "string" || !text.startsWith("{")) return undefined;
  try {
    return objectOf(parseJson(text));
  } catch {
    return undefined;
  }
}

interface Kept {
  readonly kept: Shown;
  readonly images: readonly DataPart[];
  /** How much was left out. */
  readonly bytes: number;
}

function withoutCopies(value: JsonObject, nearby: readonly Nearby[]): Kept {
  const text = textInPieces(value.text, nearby);
  const urls = arrayOf(value.images).map((url) => {
    const inPieces = textInPieces(url, nearby);
    return { url: url as Json, inPieces, part: inPieces ? undefined : dataPartOfUrl(url) };
  });
  const hasImages = urls.some(({ inPieces, part }) => inPieces ?? part);
  const left = [...(text ? ["text"] : []), ...(hasImages ? ["images"] : [])];
  return {
    kept: {
      shown: fieldsBesides(value, left) ?? {},
      ...(text && { text: text.pieces }),
      ...(hasImages && {
        images: urls.map(({ url, inPieces, part }) => inPieces?.pieces ?? (part ? partImage(url) : url)),
      }),
    },
    images: urls.flatMap(({ part }) => part ?? []),
    bytes: urls.reduce((sum, { inPieces }) => sum + (inPieces?.bytes ?? 0), text?.bytes ?? 0),
  };
}

/** Stands for a picture that has become a part. */
export function partImage(url: Json): ShownImage {
  return { part: String(url).slice(0, String(url).indexOf(",") + 1) };
}

function textInPieces(
  text: unknown,
  nearby: readonly Nearby[],
): { pieces: Pieces; bytes: number } | undefined {
  const pieces = typeof text === "string" ? piecesOf(text, nearby) : undefined;
  return pieces && { pieces, bytes: copiedBytes(text as string, pieces) };
}
