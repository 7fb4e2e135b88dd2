import { callIdsOf, type PartInput } from "../../index.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { isAlike } from "../identity/canonical-key.ts";

/** Calls of a reply in the log. */
export interface LoggedCalls {
  /** Key of the reply. */
  readonly key: string;
  readonly ids: readonly string[];
}

/**
 * Restores the logged call ids in the results of a request: some clients rewrite ids, and a result with an unknown id
 * would count as one without a call. `logged` describes the last reply of the log.
 */
export function withLoggedIds(
  messages: readonly WireMessage[],
  logged: LoggedCalls | undefined,
): readonly WireMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (!last || !logged || logged.ids.length === 0 || !isAlike(last.key, logged.key)) return messages;
  const own = callIdsOf(last.input());
  const isRenamed = own.length === logged.ids.length && own.some((id, order) => id !== logged.ids[order]);
  if (!isRenamed) return messages;
  const names = new Map(own.map((id, order) => [id, logged.ids[order] as string]));
  return messages.map((message, index) => (index > at ? renamed(message, names) : message));
}

function renamed(message: WireMessage, names: ReadonlyMap<string, string>): WireMessage {
  const input = () => {
    const said = message.input();
    return said.parts ? { ...said, parts: said.parts.map((part) => named(part, names)) } : said;
  };
  return Object.create(message, { input: { value: input } });
}

function named(part: PartInput, names: ReadonlyMap<string, string>): PartInput {
  if (part.type !== "tool-result") return part;
  return { ...part, callId: names.get(part.callId) ?? part.callId };
}
