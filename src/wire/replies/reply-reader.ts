import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { toArray, toObject, toText } from "../fields.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import type { ReplyReader, WireEvent, WireObject } from "../wire.ts";
import { parseJsonOrUndefined, parseObject } from "./parse-object.ts";

/** A reply under construction, by the rules of one API. */
export interface ReplyAssembly extends Omit<ReplyReader, "take" | "takeWhole" | "outputBytes"> {
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
  return new AssemblyReader(assembly, maxCharacters);
}

class AssemblyReader implements ReplyReader {
  readonly #assembly: ReplyAssembly;
  /** Characters that may still be read. */
  #left: number;
  outputBytes = 0;

  constructor(assembly: ReplyAssembly, maxCharacters: number) {
    this.#assembly = assembly;
    this.#left = maxCharacters;
  }

  take({ event, data }: WireEvent): void {
    if (data.trim() === "[DONE]") {
      if (this.#left >= 0) this.#assembly.takeEnd();
      return;
    }
    const value = this.#parse(data);
    if (!value) return;
    this.outputBytes += countBytes(value.delta) + countBytes(toArray(value.choices).map(getDelta));
    this.outputBytes += countBytes(toArray(value.candidates));
    this.#assembly.takeEvent(toText(value.type) ?? event ?? "", value);
  }

  takeWhole(body: string): void {
    this.#left -= body.length;
    const parsed = this.#left < 0 ? undefined : parseJsonOrUndefined(body);
    // Google streams a list of chunks to clients that do not ask for events.
    for (const chunk of Array.isArray(parsed) ? parsed : [parsed]) {
      const value = toObject(chunk);
      if (!value) continue;
      this.outputBytes += countBytes(value.content ?? value.choices ?? value.output ?? value.candidates);
      this.#assembly.takeBody(value);
    }
  }

  message(): MessageInput | undefined {
    return this.#assembly.message();
  }

  items(): readonly WireObject[] {
    return this.#assembly.items?.() ?? [];
  }

  get usage(): Usage | undefined {
    return this.#assembly.usage;
  }

  get isComplete(): boolean {
    return this.#assembly.isComplete;
  }

  get hasBegun(): boolean {
    return this.#assembly.hasBegun;
  }

  get failure(): ProviderFailure | undefined {
    return this.#assembly.failure;
  }

  get stopReason(): string | undefined {
    return this.#assembly.stopReason;
  }

  get responseId(): string | undefined {
    return this.#assembly.responseId;
  }

  get model(): string | undefined {
    return this.#assembly.model;
  }

  get diagnosis(): WireObject | undefined {
    return this.#assembly.diagnosis;
  }

  #parse(data: string): WireObject | undefined {
    this.#left -= data.length;
    return this.#left < 0 ? undefined : parseObject(data);
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
