import type { Message, MessageInput, PartInput } from "../../../kernel/index.ts";

/** A tool call. */
export interface PendingCall {
  readonly callId: string;
  readonly name: string;
}

/** The calls of the last reply that have no result yet; `messages` are oldest first. */
export function findPendingCalls(messages: readonly Message[]): readonly PendingCall[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  if (at < 0) return [];
  return filterUnanswered(
    listCalls(messages[at] as Message),
    messages.slice(at).flatMap(({ parts }) => parts),
  );
}

/** The calls of a reply that we have to run; those that its provider ran have their results in it. */
export function findCallsToRun({
  parts = [],
}: {
  readonly parts?: readonly PartInput[];
}): readonly PendingCall[] {
  return filterUnanswered(listCalls({ parts }), parts);
}

/** The calls of a message. */
export function listCalls({ parts = [] }: { readonly parts?: readonly PartInput[] }): readonly PendingCall[] {
  return parts.flatMap((part) => {
    if (part.type === "tool-call") return [{ callId: part.callId, name: part.name }];
    if (part.type !== "blob" || part.of !== "tool-call") return [];
    return [{ callId: part.callId ?? "", name: part.toolName ?? "tool" }];
  });
}

function filterUnanswered(
  calls: readonly PendingCall[],
  parts: readonly PartInput[],
): readonly PendingCall[] {
  const answered = new Set(parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : [])));
  return calls.filter(({ callId }) => !answered.has(callId));
}

/** Why a call has no result. */
const REASONS = {
  interrupted:
    "Interrupted: whoever ran this call ended before it returned. It may have been carried out in part or in full; look before you repeat it.",
  undone: "Not carried out: nobody here can run or approve this call.",
} as const;

/** Error results for calls that will never get another. */
export function buildErrorResults(calls: readonly PendingCall[], why: keyof typeof REASONS): MessageInput {
  return {
    role: "tool",
    parts: calls.map(({ callId, name }) => ({
      type: "tool-result",
      callId,
      name,
      isError: true,
      output: REASONS[why],
    })),
  };
}
