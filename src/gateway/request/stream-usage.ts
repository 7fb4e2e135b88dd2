import { toArray, toObject } from "../../wire/fields.ts";
import { parseObject } from "../../wire/replies/parse-object.ts";
import type { SpendingServices } from "../budget/request-spending.ts";
import type { Incoming } from "../door/incoming.ts";
import type { ParsedRequest } from "./read-request.ts";

/** Streams of Chat Completions report usage only if the request has this field. */
export const STREAM_OPTIONS = "stream_options";

/** True if a budget counts a stream whose client does not ask for its usage, and the upstream would report it. */
export function mustAskUsage(
  { api, fields }: ParsedRequest,
  { upstream }: { readonly upstream: { readonly name: string } },
  { spending }: Pick<Incoming, "spending">,
  services: { readonly spending: Pick<SpendingServices, "withoutUsage"> },
): boolean {
  if (api.name !== "openai-chat" || !fields.isStreamed || !spending.isMeasured) return false;
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
