import type { Message } from "../../../index.ts";

/** How many calls are remembered until their results come. */
const MAX_CALLS = 1000;

/** Which tool each open call is for: pi names it in the result as well. */
export class ToolNames {
  readonly #names = new Map<string, string>();

  see(message: Message): void {
    for (const part of message.parts) {
      if (part.type === "tool-call") this.#names.set(part.callId, part.name);
      else if (part.type === "blob" && part.callId !== undefined && part.toolName !== undefined)
        this.#names.set(part.callId, part.toolName);
    }
    while (this.#names.size > MAX_CALLS) {
      const [oldest] = this.#names.keys();
      this.#names.delete(oldest as string);
    }
  }

  of(callId: string): string | undefined {
    return this.#names.get(callId);
  }
}
