import { createHash, type Hash } from "node:crypto";
import type { Json, MessageInput } from "../../index.ts";
import { dropUndefined, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import type { Item } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Tags that successive SDK versions have treated as program notices inside user input. */
const NOTICES = [[], ["mode_notice"], ["mode_notice", "environment_notice"]];

/** Number of historical ways to display user input. */
const INPUT_VERSIONS = NOTICES.length;

/**
 * The window that the SDK stores next to a conversation: messages that replace its first ones. It applies only if those
 * are unchanged.
 */
export class ClineSdkCompaction {
  readonly count: number;
  readonly #state: JsonObject;
  readonly #hashes: readonly Hash[];
  #last: JsonObject | undefined;
  #messageCount = 0;

  constructor(state: JsonObject) {
    this.#state = state;
    this.count = toNumber(state.source_message_count) ?? -1;
    this.#hashes = Array.from({ length: INPUT_VERSIONS }, () =>
      createHash("sha256").update(`cline-session-compaction-source-v2\n${this.count}\n`),
    );
  }

  /** Notes a message of the conversation that was emitted. */
  addMessage(message: JsonObject): void {
    if (this.#messageCount >= this.count) return;
    this.#messageCount++;
    this.#last = message;
    for (const [way, hash] of this.#hashes.entries())
      hash.update(`${JSON.stringify(getHashedFields(message, way))}\n`);
  }

  /** True once all replaced messages were emitted. */
  get isComplete(): boolean {
    return this.count > 0 && this.#messageCount === this.count;
  }

  /** True if the window was made from the emitted messages. */
  get isValid(): boolean {
    const { source_prefix_hash: prefix, source_last_message_key: key } = this.#state;
    if (!this.isComplete) return false;
    if (toText(prefix) !== undefined)
      return this.#hashes.some((hash) => `sha256:${hash.copy().digest("hex")}` === prefix);
    return (
      toText(key) !== undefined &&
      this.#last !== undefined &&
      buildBoundaryKeys(this.#last).includes(key as string)
    );
  }

  /** Builds the overlay, which covers everything through that record. */
  buildOverlay(through: string, messageOf: (message: JsonObject) => MessageInput | undefined): Item {
    const messages = toArray(this.#state.messages).map((message) => toObject(message) ?? {});
    const metadata = toObject(messages[0]?.metadata);
    const madeAt = toTime(this.#state.updated_at);
    return {
      type: "record",
      id: `compaction:${this.count}`,
      version: hashRecordVersion(this.#state),
      body: {
        kind: "overlay",
        edit: {
          type: "summarize",
          spans: [{ through }],
          messages: messages.flatMap((message) => messageOf(message) ?? []),
        },
        reason: toText(metadata?.kind) ?? "compaction",
        ...dropUndefined({ madeAt, tokensBefore: toNumber(metadata?.tokensBefore) }),
      },
    };
  }

  /** Keeps a sidecar that does not apply as a raw record. */
  buildRawRecord(): Item {
    return {
      type: "record",
      id: "compaction:unused",
      version: hashRecordVersion(this.#state),
      body: { kind: "raw", value: { compaction: this.#state as Json } },
    };
  }
}

/**
 * Returns the hashed fields of a message in the SDK's order. Ids and times are excluded, because the SDK regenerates
 * them.
 */
function getHashedFields(message: JsonObject, way: number): readonly unknown[] {
  return [
    ["role", message.role],
    ["content", message.role === "user" ? toShownContent(message.content, way) : message.content],
    ["agent", message.agent ?? null],
    ["sessionId", message.sessionId ?? null],
    ["metadata", message.metadata ?? null],
    ["modelInfo", message.modelInfo ?? null],
    ["metrics", message.metrics ?? null],
  ];
}

function toShownContent(content: unknown, way: number): unknown {
  if (typeof content === "string") return toShownInput(content, way);
  if (!Array.isArray(content)) return content;
  return content.map((block) => {
    const { type, text } = toObject(block) ?? {};
    return type === "text" && typeof text === "string" ? { ...block, text: toShownInput(text, way) } : block;
  });
}

/** Returns the keys by which old sidecars name their last message. */
function buildBoundaryKeys(message: JsonObject): readonly string[] {
  const id = toText(message.id)?.trim();
  if (id) return [`id:${id}`];
  if (toNumber(message.ts) !== undefined) return [`ts:${message.role}:${message.ts}`];
  return Array.from({ length: INPUT_VERSIONS }, (_, way) => {
    const content = message.role === "user" ? toShownContent(message.content, way) : message.content;
    return `content:${message.role}:${JSON.stringify(content)}`;
  });
}

/** Displays user input as the SDK does, without its own tags and notices; `way` selects the SDK version's behavior. */
function toShownInput(text: string, way: number): string {
  if (text.trim() === "") return "";
  const words = (NOTICES[way] ?? []).reduce(removeElements, unwrapOwnTags(text)).trim();
  const slash = findSlashCommand(text);
  if (slash === undefined) return words;
  const prefix = "spawn a team of agents for the following task:";
  const isTeam = slash.toLowerCase() === "team" && words.toLowerCase().startsWith(prefix);
  const rest = isTeam ? words.slice(prefix.length).trim() : words;
  const name = slash.toLowerCase() === "team" ? "team" : slash;
  return rest === "" ? `/${name}` : `/${name} ${rest}`;
}

/** Removes the tags around input and keeps their content. */
function unwrapOwnTags(text: string): string {
  return ["user_input", "user_command"].reduce((left, tag) => {
    const unwrapped = left.replace(new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`, "g"), "$1");
    return (unwrapped === left ? left.replace(new RegExp(`<${tag}[^>]*>`, "g"), "") : unwrapped).trim();
  }, text.trim());
}

/** Removes elements including their content. */
function removeElements(text: string, tag: string): string {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  let left = text;
  for (let from = left.indexOf(open); from >= 0; from = left.indexOf(open, from)) {
    const end = left.indexOf(close, from + open.length);
    if (end < 0) break;
    left = left.slice(0, from) + left.slice(end + close.length);
  }
  return left;
}

function findSlashCommand(text: string): string | undefined {
  const attributes = /^<user_command\b([^>]*)>[\s\S]*?<\/user_command>$/i.exec(text.trim())?.[1];
  return attributes === undefined ? undefined : /slash="([^"]+)"/i.exec(attributes)?.[1]?.trim() || undefined;
}
