import type { MessageInput } from "../../index.ts";
import type { JsonObject, SaidMessage } from "./api.ts";
import { isNothingSaid } from "./nothing-said.ts";

/** Decodes elements into one message each; empty ones are omitted. */
export function decodeEach(
  elements: readonly JsonObject[],
  messageOf: (element: JsonObject) => MessageInput,
): readonly SaidMessage[] {
  return elements.flatMap((element, from) => {
    const input = messageOf(element);
    return isNothingSaid(input) ? [] : [{ input, from, to: from + 1 }];
  });
}
