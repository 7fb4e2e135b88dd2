import { toArray, toObject } from "../../../wire/fields.ts";
import type { Incoming } from "../door/incoming.ts";
import { type CutBody, fieldValue } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { isRecallTool } from "./recall-tools.ts";

const OPEN_LIST = 0x5b;
/** Fields of requests whose replies are not read here, or whose conversation is stored elsewhere. */
const UNREADABLE_FIELDS = [
  ...["background", "conversation", "thread", "functions", "function_call"],
  ...["cachedContent", "cached_content"],
];
const FORMAT_FIELDS = ["response_format", "output_format", "output_config"];

/**
 * True if the model of a request may be offered the gateway's tools: it is free to choose its calls, no tool of the
 * client has such a name, and no client without tools requires a reply of a fixed form.
 */
export function canOfferTools({
  messages,
  fields,
  facts,
}: Pick<ParsedRequest, "messages" | "fields" | "facts">): boolean {
  const { cut, list } = messages;
  const { all } = fields;
  const tools = cut.fields.get("tools");
  if (tools && cut.bytes[tools.from] !== OPEN_LIST) return false;
  if (facts.toolNames.some(isRecallTool) || !isFreeChoice(all.tool_choice)) return false;
  if (typeof all.n === "number" && all.n > 1) return false;
  if (UNREADABLE_FIELDS.some((name) => all[name] !== undefined && all[name] !== null && all[name] !== false))
    return false;
  if (facts.toolNames.length === 0 && hasFixedFormat(all)) return false;
  if (!canMixTools(cut, all)) return false;
  // The last message is a prefill that the model continues.
  return list.at(-1)?.role !== "assistant";
}

/** Google refuses functions next to its own tools, and calls that the client restricts must not be ours. */
function canMixTools(cut: CutBody, all: ParsedRequest["fields"]["all"]): boolean {
  const config = toObject(all.toolConfig ?? all.tool_config);
  const calling = toObject(config?.functionCallingConfig ?? config?.function_calling_config);
  if ((calling?.mode ?? "AUTO") !== "AUTO") return false;
  return toArray(fieldValue(cut, "tools")).every((tool) => {
    const names = Object.keys(toObject(tool) ?? {});
    const isGoogles = names.length > 0 && !names.some((name) => ["type", "name", "function"].includes(name));
    return !isGoogles || names.every((name) => /^function_?declarations$/i.test(name));
  });
}

function isFreeChoice(choice: unknown): boolean {
  return choice === undefined || choice === null || (toObject(choice)?.type ?? choice) === "auto";
}

function hasFixedFormat(all: ParsedRequest["fields"]["all"]): boolean {
  const format = toObject(toObject(all.text)?.format)?.type ?? "text";
  return format !== "text" || FORMAT_FIELDS.some((name) => toObject(all[name]) !== undefined);
}

/**
 * True if the reply reaches the client as it comes, so that no call in it can be carried out: Google's stream that is a
 * list, and Bedrock's stream of binary frames.
 */
export function isSentAsItComes({ route, query }: Pick<Incoming, "route" | "query">): boolean {
  if (route.type !== "api") return false;
  if (route.path.endsWith("/interactions")) return true;
  if (!route.isStreamed) return false;
  return route.path.startsWith("/model/") || (route.api === "google" && !/\balt=sse\b/.test(query));
}
