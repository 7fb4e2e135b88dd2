import type { Heard } from "../../../support/upstream.ts";

/** The bytes of a prompt in the order in which providers cache them: tools, system prompt, messages. */
export function promptOf({ json }: Heard): string {
  const { tools, system, instructions, systemInstruction, messages, input, contents } = json;
  const list: readonly unknown[] = messages ?? input ?? contents;
  return [
    JSON.stringify(tools ?? []),
    JSON.stringify(system ?? instructions ?? systemInstruction ?? ""),
    ...list.map(toUnmarked),
  ].join("\n");
}

function toUnmarked(element: unknown): string {
  return JSON.stringify(element, (name, value) => (name === "cache_control" ? undefined : value));
}

/** The number of characters with which both texts begin. */
export function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
