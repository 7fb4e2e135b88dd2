import { textOf } from "../../../formats/content/fields.ts";
import type { JsonObject, ReplyReader } from "../api.ts";
import { objectIn } from "./event-json.ts";

/** A reply under construction, by the rules of one API. */
export interface Assembly extends Omit<ReplyReader, "take" | "takeWhole"> {
  takeEvent(type: string, event: JsonObject): void;
  takeBody(body: JsonObject): void;
  /** Handles the end of the stream, where an API marks it outside its events. */
  takeEnd(): void;
}

/** Maximum size of a reply that is tracked. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/**
 * Reads a reply into an assembly. Events that are not JSON objects are ignored, as is everything beyond the size limit,
 * so that an endless reply never completes.
 */
export function replyReader(assembly: Assembly, mostCharacters: number = MOST_CHARACTERS): ReplyReader {
  let left = mostCharacters;
  const objectWithin = (data: string): JsonObject | undefined => {
    left -= data.length;
    return left < 0 ? undefined : objectIn(data);
  };
  return {
    take({ event, data }) {
      if (data.trim() === "[DONE]") {
        if (left >= 0) assembly.takeEnd();
        return;
      }
      const value = objectWithin(data);
      if (value) assembly.takeEvent(textOf(value.type) ?? event ?? "", value);
    },
    takeWhole(body) {
      const value = objectWithin(body);
      if (value) assembly.takeBody(value);
    },
    message: () => assembly.message(),
    items: () => assembly.items?.() ?? [],
    get usage() {
      return assembly.usage;
    },
    get isComplete() {
      return assembly.isComplete;
    },
    get hasBegun() {
      return assembly.hasBegun;
    },
    get failure() {
      return assembly.failure;
    },
    get stopReason() {
      return assembly.stopReason;
    },
    get responseId() {
      return assembly.responseId;
    },
    get model() {
      return assembly.model;
    },
  };
}
