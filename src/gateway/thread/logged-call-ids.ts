import { listCallIds, type PartInput } from "../../index.ts";
import { isSimilarKey } from "../identity/canonical-key.ts";
import type { RequestMessage } from "../request/request-messages.ts";

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
export function restoreCallIds(
  messages: readonly RequestMessage[],
  logged: LoggedCalls | undefined,
): readonly RequestMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (!last || !logged || logged.ids.length === 0 || !isSimilarKey(last.key, logged.key)) return messages;
  const own = listCallIds(last.input());
  const isRenamed = own.length === logged.ids.length && own.some((id, order) => id !== logged.ids[order]);
  if (!isRenamed) return messages;
  const names = new Map(own.map((id, order) => [id, logged.ids[order] as string]));
  return messages.map((message, index) => (index > at ? renameResults(message, names) : message));
}

function renameResults(message: RequestMessage, names: ReadonlyMap<string, string>): RequestMessage {
  const input = () => {
    const messages = message.input();
    return messages.parts
      ? { ...messages, parts: messages.parts.map((part) => renameResult(part, names)) }
      : messages;
  };
  return Object.create(message, { input: { value: input } });
}

function renameResult(part: PartInput, names: ReadonlyMap<string, string>): PartInput {
  if (part.type !== "tool-result") return part;
  return { ...part, callId: names.get(part.callId) ?? part.callId };
}
