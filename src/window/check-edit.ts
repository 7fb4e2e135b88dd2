import { createArgumentError } from "../model/errors.ts";
import type { MessageInput } from "../model/message.ts";
import type { EditInput, SingleEdit } from "../model/overlay.ts";
import type { PartInput } from "../model/part.ts";

/** Throws ARGUMENT_INVALID for a manual edit that is malformed or refers to entries that do not exist yet. */
export function checkEdit(
  edit: EditInput,
  own: { readonly session: string; readonly head: number },
): asserts edit is SingleEdit<MessageInput, PartInput> {
  if (edit?.type !== "replace" && edit?.type !== "hide" && edit?.type !== "summarize")
    throw createArgumentError("edit.type", edit?.type, "replace, hide or summarize");
  if (edit.type === "replace") {
    if (!Array.isArray(edit.parts)) throw createArgumentError("edit.parts", edit.parts, "an array of parts");
    const { target } = edit;
    if ("callId" in target ? typeof target.callId === "string" : isSeq(target.seq)) return;
    throw createArgumentError("edit.target", target, "a seq, or the callId of a tool's result");
  }
  if (!Array.isArray(edit.ranges) || edit.ranges.length === 0)
    throw createArgumentError("edit.ranges", edit.ranges, "at least one range of entries");
  for (const { session, from, to } of edit.ranges) {
    const isSaid = session !== own.session || to <= own.head;
    if (typeof session === "string" && isSeq(from) && Number.isSafeInteger(to) && isSaid) continue;
    throw createArgumentError(
      "edit.ranges",
      `${session}#${from} to #${to}`,
      `ranges of entries that exist; the last is #${own.head}`,
    );
  }
}

function isSeq(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
