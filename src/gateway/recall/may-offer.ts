import { objectOf } from "../../formats/content/fields.ts";
import type { ReadRequest } from "../exchange/read-request.ts";
import { isOwnTool } from "./tools.ts";

const OPEN_LIST = 0x5b;
/** Fields of requests whose answers are not read here, or whose conversation is kept elsewhere. */
const ELSEWHERE = ["background", "conversation", "thread", "functions", "function_call"];
const FORMATS = ["response_format", "output_format", "output_config"];

/**
 * True if the model of a request may be given tools of ours: it is free to choose what it calls, no tool of the client has
 * such a name, and the reply is not bound to a form by a client without tools.
 */
export function mayOffer({ said, fields, facts }: Pick<ReadRequest, "said" | "fields" | "facts">): boolean {
  const { cut, messages } = said;
  const { all } = fields;
  const tools = cut.fields.get("tools");
  if (tools && cut.bytes[tools.from] !== OPEN_LIST) return false;
  if (facts.toolNames.some(isOwnTool) || !isFree(all.tool_choice)) return false;
  if (typeof all.n === "number" && all.n > 1) return false;
  if (ELSEWHERE.some((name) => all[name] !== undefined && all[name] !== null && all[name] !== false))
    return false;
  if (facts.toolNames.length === 0 && isFormed(all)) return false;
  // The model goes on with words that the client has begun.
  return messages.at(-1)?.role !== "assistant";
}

function isFree(choice: unknown): boolean {
  return choice === undefined || choice === null || (objectOf(choice)?.type ?? choice) === "auto";
}

function isFormed(all: ReadRequest["fields"]["all"]): boolean {
  const format = objectOf(objectOf(all.text)?.format)?.type ?? "text";
  return format !== "text" || FORMATS.some((name) => objectOf(all[name]) !== undefined);
}
