import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { parseJsonOrUndefined, parseObject, toArray, toObject, toText } from "../fields.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import type { ReplyReader, WireEvent, WireObject } from "../wire.ts";

/** Maximum size of a reply that is tracked. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/**
 * A reply under construction; each API reads its own events and bodies. Events that are not JSON objects are ignored, as
 * is everything beyond the size limit, so that an endless reply never completes.
 */
export abstract class ReplyAssembly implements ReplyReader {
  /** Characters that may still be read. */
  #left = MAX_CHARACTERS;
  outputBytes = 0;
  failure: ProviderFailure | undefined;

  abstract readonly usage: Usage | undefined;
  abstract readonly isComplete: boolean;
  abstract readonly hasBegun: boolean;
  abstract readonly stopReason: string | undefined;
  abstract readonly responseId: string | undefined;
  abstract readonly model: string | undefined;
  abstract message(): MessageInput | undefined;
  protected abstract takeEvent(type: string, event: WireObject): void;
  protected abstract takeBody(body: WireObject): void;
  /** Handles the end of the stream, where an API marks it outside its events. */
  protected takeEnd?(): void;

  take({ event, data }: WireEvent): void {
    if (data.trim() === "[DONE]") {
      if (this.#left >= 0) this.takeEnd?.();
      return;
    }
    this.#left -= data.length;
    const value = this.#left < 0 ? undefined : parseObject(data);
    if (!value) return;
    this.outputBytes += countBytes(value.delta) + countBytes(toArray(value.choices).map(getDelta));
    this.outputBytes += countBytes(toArray(value.candidates));
    this.takeEvent(toText(value.type) ?? event ?? "", value);
  }

  takeWhole(body: string): unknown {
    this.#left -= body.length;
    const parsed = this.#left < 0 ? undefined : parseJsonOrUndefined(body);
    // Google streams a list of chunks to clients that do not ask for events.
    for (const chunk of Array.isArray(parsed) ? parsed : [parsed]) {
      const value = toObject(chunk);
      if (!value) continue;
      this.outputBytes += countBytes(value.content ?? value.choices ?? value.output ?? value.candidates);
      this.takeBody(value);
    }
    return parsed;
  }
}

/** Fields whose texts are not written by the model. */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  ...["type", "id", "role", "signature", "encrypted_content", "stop_reason", "finish_reason"],
  ...["thoughtSignature", "finishReason"],
]);

function getDelta(choice: unknown): unknown {
  return toObject(choice)?.delta;
}

/** The size of all texts within a value. */
function countBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  for (const [name, inner] of Object.entries(value)) if (!FIXED_FIELDS.has(name)) sum += countBytes(inner);
  return sum;
}
