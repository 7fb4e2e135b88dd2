import {
  type Alignment,
  alignMessages,
  countCommonPrefix,
  findOmittedPlaces,
} from "../../conversation/align-messages.ts";
import type { Role } from "../../index.ts";

/** A sequence of messages, each as its canonical key and its role. */
export interface KeyedMessages {
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
}

/** Compares a line with a request, which carries the client's whole copy of the conversation. */
export function alignRequest(line: KeyedMessages, request: KeyedMessages): Alignment {
  const places = findOmittedPlaces(line.keys, request.keys) ?? findTrimmedTurn(line, request)?.places;
  return places ? { type: "drop", places } : alignMessages(line.keys, request.keys);
}

/** A request whose client has trimmed the conversation and continues differently after the last reply it still has. */
interface TrimmedTurn {
  /** Positions on the line that the request omits. */
  readonly places: readonly number[];
  /** Number of the line's messages that the request still contains. */
  readonly kept: number;
}

/**
 * Compares a line with a request that edits a turn or retries it, in a conversation that its client has trimmed.
 * Returns undefined if no message was omitted before that turn, or if the request contains a message there that the
 * line lacks.
 */
export function findTrimmedTurn(line: KeyedMessages, request: KeyedMessages): TrimmedTurn | undefined {
  // A trailing assistant message is a prefill for the model to continue.
  const answer = request.roles.slice(0, -1).lastIndexOf("assistant") + 1;
  const last = request.keys[answer - 1];
  if (last === undefined || countCommonPrefix(line.keys, request.keys) >= answer) return undefined;
  const end = line.keys.lastIndexOf(last) + 1;
  const before = findOmittedPlaces(line.keys.slice(0, end), request.keys.slice(0, answer));
  if (!before) return undefined;
  const callRequest = countCommonPrefix(line.keys.slice(end), request.keys.slice(answer));
  const after = Array.from(
    { length: line.keys.length - end - callRequest },
    (_, index) => end + callRequest + index,
  );
  return { places: [...before, ...after], kept: end - before.length + callRequest };
}
