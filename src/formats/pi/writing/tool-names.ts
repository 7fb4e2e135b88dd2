import { BoundedMap } from "../../../base/bounded-map.ts";
import type { Message } from "../../../index.ts";

/** Maximum calls to remember until their results come. */
const MAX_CALLS = 1000;

/** Tool names of recent calls, which pi repeats in the result. */
export class ToolNames {
  readonly #names = new BoundedMap<string, string>({ max: MAX_CALLS });

  addMessage(message: Message): void {
    for (const part of message.parts) {
      if (part.type === "tool-call") this.#names.set(part.callId, part.name);
      else if (part.type === "blob" && part.callId !== undefined && part.toolName !== undefined)
        this.#names.set(part.callId, part.toolName);
    }
  }

  getName(callId: string): string | undefined {
    return this.#names.get(callId);
  }
}
