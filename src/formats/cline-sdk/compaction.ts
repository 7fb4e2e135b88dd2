import { createHash, type Hash } from "node:crypto";
import type { Json, MessageInput } from "../../index.ts";
import { versionOf } from "../cline/version.ts";
import { arrayOf, definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { Item } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { shownInput, WAYS } from "./user-input.ts";

/**
 * The window that the SDK stores next to a conversation: messages that replace its first ones. It applies only if those
 * are unchanged.
 */
export class Compaction {
  readonly count: number;
  readonly #state: JsonObject;
  readonly #hashes: readonly Hash[];
  #last: JsonObject | undefined;
  #passed = 0;

  constructor(state: JsonObject) {
    this.#state = state;
    this.count = numberOf(state.source_message_count) ?? -1;
    this.#hashes = Array.from({ length: WAYS }, () =>
      createHash("sha256").update(`cline-session-compaction-source-v2\n${this.count}\n`),
    );
  }

  /** Notes a message of the conversation that was emitted. */
  see(message: JsonObject): void {
    if (this.#passed >= this.count) return;
    this.#passed++;
    this.#last = message;
    for (const [way, hash] of this.#hashes.entries())
      hash.update(`${JSON.stringify(hashedFields(message, way))}\n`);
  }

  /** True once all replaced messages were emitted. */
  get isComplete(): boolean {
    return this.count > 0 && this.#passed === this.count;
  }

  /** True if the window was made from the emitted messages. */
  get isValid(): boolean {
    const { source_prefix_hash: prefix, source_last_message_key: key } = this.#state;
    if (!this.isComplete) return false;
    if (textOf(prefix) !== undefined)
      return this.#hashes.some((hash) => `sha256:${hash.copy().digest("hex")}` === prefix);
    return (
      textOf(key) !== undefined &&
      this.#last !== undefined &&
      boundaryKeys(this.#last).includes(key as string)
    );
  }

  /** Builds the overlay, which covers everything through that record. */
  overlay(through: string, messageOf: (message: JsonObject) => MessageInput | undefined): Item {
    const messages = arrayOf(this.#state.messages).map((message) => objectOf(message) ?? {});
    const metadata = objectOf(messages[0]?.metadata);
    const madeAt = timeOf(this.#state.updated_at);
    return {
      type: "record",
      id: `compaction:${this.count}`,
      version: versionOf(this.#state),
      body: {
        kind: "overlay",
        edit: {
          type: "summarize",
          spans: [{ through }],
          messages: messages.flatMap((message) => messageOf(message) ?? []),
        },
        reason: textOf(metadata?.kind) ?? "compaction",
        ...definedFields({ madeAt, tokensBefore: numberOf(metadata?.tokensBefore) }),
      },
    };
  }

  /** Keeps a sidecar that does not apply as a raw record. */
  raw(): Item {
    return {
      type: "record",
      id: "compaction:unused",
      version: versionOf(this.#state),
      body: { kind: "raw", value: { compaction: this.#state as Json } },
    };
  }
}

/**
 * Returns the hashed fields of a message in the SDK's order. Ids and times are excluded, because the SDK regenerates
 * them.
 */
function hashedFields(message: JsonObject, way: number): readonly unknown[] {
  return [
    ["role", message.role],
    ["content", message.role === "user" ? shownContent(message.content, way) : message.content],
    ["agent", message.agent ?? null],
    ["sessionId", message.sessionId ?? null],
    ["metadata", message.metadata ?? null],
    ["modelInfo", message.modelInfo ?? null],
    ["metrics", message.metrics ?? null],
  ];
}

function shownContent(content: unknown, way: number): unknown {
  if (typeof content === "string") return shownInput(content, way);
  if (!Array.isArray(content)) return content;
  return content.map((block) => {
    const { type, text } = objectOf(block) ?? {};
    return type === "text" && typeof text === "string" ? { ...block, text: shownInput(text, way) } : block;
  });
}

/** Returns the keys by which old sidecars name their last message. */
function boundaryKeys(message: JsonObject): readonly string[] {
  const id = textOf(message.id)?.trim();
  if (id) return [`id:${id}`];
  if (numberOf(message.ts) !== undefined) return [`ts:${message.role}:${message.ts}`];
  return Array.from({ length: WAYS }, (_, way) => {
    const content = message.role === "user" ? shownContent(message.content, way) : message.content;
    return `content:${message.role}:${JSON.stringify(content)}`;
  });
}
