import { type Alignment, alignWhole, leftOut, samePrefix } from "../../conversation/align.ts";
import type { Role } from "../../index.ts";

/** A row of messages, as keys of what was said and by whom. */
export interface Said {
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
}

/** Compares a line with a request, which holds the whole conversation as the client has it. */
export function alignRequest(line: Said, request: Said): Alignment {
  const places = leftOut(line.keys, request.keys) ?? trimmedBeforeReply(line, request)?.places;
  return places ? { type: "drop", places } : alignWhole(line.keys, request.keys);
}

/** A request of a client that has trimmed its conversation and goes another way after the last reply that it knows. */
export interface TrimmedBeforeReply {
  /** Places of the line that it does not say. */
  readonly places: readonly number[];
  /** How many messages of the line it still says. */
  readonly kept: number;
}

/**
 * Compares a line with a request that edits a turn, or asks for a reply once more, in a conversation that its client has
 * trimmed. Undefined if nothing was left out before that, or if the client says anything there that the line does not.
 */
export function trimmedBeforeReply(line: Said, request: Said): TrimmedBeforeReply | undefined {
  // A last message of the assistant is one that the model is to continue.
  const answered = request.roles.slice(0, -1).lastIndexOf("assistant") + 1;
  const last = request.keys[answered - 1];
  if (last === undefined || samePrefix(line.keys, request.keys) >= answered) return undefined;
  const end = line.keys.lastIndexOf(last) + 1;
  const before = leftOut(line.keys.slice(0, end), request.keys.slice(0, answered));
  if (!before) return undefined;
  const asked = samePrefix(line.keys.slice(end), request.keys.slice(answered));
  const after = Array.from({ length: line.keys.length - end - asked }, (_, index) => end + asked + index);
  return { places: [...before, ...after], kept: end - before.length + asked };
}
