import { toText } from "../fields.ts";
import type { ReplyReader, WireObject } from "../wire.ts";
import { parseObject } from "./parse-object.ts";

/** A reply under construction, by the rules of one API. */
export interface ReplyAssembly extends Omit<ReplyReader, "take" | "takeWhole"> {
  takeEvent(type: string, event: WireObject): void;
  takeBody(body: WireObject): void;
  /** Handles the end of the stream, where an API marks it outside its events. */
  takeEnd(): void;
}

/** Maximum size of a reply that is tracked. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/**
 * Reads a reply into an assembly. Events that are not JSON objects are ignored, as is everything beyond the size limit,
 * so that an endless reply never completes.
 */
export function createReplyReader(
  assembly: ReplyAssembly,
  maxCharacters: number = MAX_CHARACTERS,
): ReplyReader {
  let left = maxCharacters;
  const objectWithin = (data: string): WireObject | undefined => {
    left -= data.length;
    return left < 0 ? undefined : parseObject(data);
  };
  return {
    take({ event, data }) {
      if (data.trim() === "[DONE]") {
        if (left >= 0) assembly.takeEnd();
        return;
      }
      const value = objectWithin(data);
      if (value) assembly.takeEvent(toText(value.type) ?? event ?? "", value);
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
