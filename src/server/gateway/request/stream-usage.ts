import { parseObject, toArray, toObject } from "../../../wire/fields.ts";
import type { Incoming } from "../door/read-body.ts";
import type { SpendingServices } from "../limits/request-spending.ts";
import { parseRange } from "./cut-body.ts";
import type { ParsedRequest } from "./read-request.ts";

/** Streams of Chat Completions report usage only if the request has this field. */
export const STREAM_OPTIONS = "stream_options";

/** True if a budget counts a stream whose client does not ask for its usage, and the upstream would report it. */
export function mustAskUsage(
  { api, fields }: ParsedRequest,
  { upstream }: { readonly upstream: { readonly name: string } },
  { isMeasured }: Pick<NonNullable<Incoming["spending"]>, "isMeasured">,
  services: { readonly spending: Pick<SpendingServices, "withoutUsage"> },
): boolean {
  if (api.name !== "openai-chat" || !fields.isStreamed || !isMeasured) return false;
  if (toObject(fields.all[STREAM_OPTIONS])?.include_usage === true) return false;
  return services.spending.withoutUsage.get(upstream.name) === undefined;
}

/**
 * The data of an event for a client that did not ask for usage: empty for an event that holds nothing else, undefined if
 * nothing changes. A provider that reports usage with the last words does so unasked.
 */
export function hideStreamUsage(data: string): string | undefined {
  if (!data.includes('"usage"')) return undefined;
  const { usage, ...chunk } = parseObject(data) ?? {};
  if (usage === null) return JSON.stringify(chunk);
  return usage !== undefined && toArray(chunk.choices).length === 0 ? "" : undefined;
}

/** Fields that hold content, or descriptions of it, in which a model's name decides nothing. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  ...["messages", "input", "system", "instructions", "prompt", "contents", "metadata"],
  ...["function", "functions", "parameters", "input_schema", "json_schema", "schema", "response_format"],
]);
/** Fields that name models, such as "models" and "fallbacks" of routers and "model" of an advisor's tool. */
const MODEL_FIELD = /^(?:\w+_)?(?:models?|fallbacks?)$/;
const MAX_DEPTH = 8;

/** All models that a request names, in any field: providers and routers may answer with each of them. */
export function findNamedModels({ messages: { cut } }: Pick<ParsedRequest, "messages">): readonly string[] {
  const memo = cut.frame?.memo;
  if (memo?.namedModels) return memo.namedModels;
  const found = new Set<string>();
  for (const [name, range] of cut.fields)
    if (!CONTENT_FIELDS.has(name)) collectModels({ [name]: parseRange(cut.bytes, range) }, found);
  const names = [...found];
  if (memo) memo.namedModels = names;
  return names;
}

/** Adds the models that a parsed body names. */
export function collectModels(value: unknown, found: Set<string>, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [name, inner] of Object.entries(value)) {
    if (CONTENT_FIELDS.has(name)) continue;
    if (MODEL_FIELD.test(name))
      for (const one of Array.isArray(inner) ? inner : [inner]) if (typeof one === "string") found.add(one);
    collectModels(inner, found, depth + 1);
  }
}
