import type { Message, MessageInput, PartInput } from "../../index.ts";

/** A tool call. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
}

/** The calls of the last reply that have no result yet; `messages` are oldest first. */
export function openCalls(messages: readonly Message[]): readonly OpenCall[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  if (at < 0) return [];
  return unanswered(
    callsOf(messages[at] as Message),
    messages.slice(at).flatMap(({ parts }) => parts),
  );
}

/** The calls of a reply that we have to run; those that its provider ran have their results in it. */
export function callsToDo({ parts = [] }: { readonly parts?: readonly PartInput[] }): readonly OpenCall[] {
  return unanswered(callsOf({ parts }), parts);
}

/** The calls of a message. */
export function callsOf({ parts = [] }: { readonly parts?: readonly PartInput[] }): readonly OpenCall[] {
  return parts.flatMap((part) => {
    if (part.type === "tool-call") return [{ callId: part.callId, name: part.name }];
    if (part.type !== "blob" || part.of !== "tool-call") return [];
    return [{ callId: part.callId ?? "", name: part.toolName ?? "tool" }];
  });
}

function unanswered(calls: readonly OpenCall[], parts: readonly PartInput[]): readonly OpenCall[] {
  const answered = new Set(parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : [])));
  return calls.filter(({ callId }) => !answered.has(callId));
}

/** Why a call has no result. */
const WHY = {
  interrupted:
    "Interrupted: whoever ran this call ended before it returned. It may have been carried out in part or in full; look before you repeat it.",
  undone: "Not carried out: nobody here can run or approve this call.",
} as const;

/** Error results for calls that will never get another. */
export function resultsFor(calls: readonly OpenCall[], why: keyof typeof WHY): MessageInput {
  return {
    role: "tool",
    parts: calls.map(({ callId, name }) => ({
      type: "tool-result",
      callId,
      name,
      isError: true,
      output: WHY[why],
    })),
  };
}
