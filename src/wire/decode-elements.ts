import type { MessageInput } from "../model/message.ts";
import { isEmptyMessage } from "./is-empty-message.ts";
import type { DecodedMessage, WireObject } from "./wire.ts";

/** Decodes elements into one message each; empty ones are omitted. */
export function decodeElements(
  elements: readonly WireObject[],
  messageOf: (element: WireObject) => MessageInput,
): readonly DecodedMessage[] {
  return elements.flatMap((element, from) => {
    const input = messageOf(element);
    return isEmptyMessage(input) ? [] : [{ input, from, to: from + 1 }];
  });
}
