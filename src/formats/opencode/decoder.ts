import type { Json } from "../../index.ts";
import { definedFields, fieldsBesides, objectOf, textOf, timeOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item, Span } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { CallIds } from "./call-ids.ts";
import { messageItems } from "./message-items.ts";
import { RecentMessages } from "./recent-messages.ts";
import { rawItem, recordItem } from "./records.ts";
import { stepsOf } from "./steps.ts";
import type { Stored, StoredMessage } from "./stored.ts";

/** A user message that requests a compaction. */
interface Compaction {
  readonly message: unknown;
  readonly record: string;
  readonly tail: string | undefined;
}

/** Turns stored messages into items. It remembers a bounded number of ids to name records, and no content. */
export class OpencodeDecoder {
  readonly #recent = new RecentMessages();
  readonly #callIds = new CallIds();
  #index = 0;
  #last: string | undefined;
  #compaction: Compaction | undefined;
  #facts: Leftovers = {};
  #revert: JsonObject | undefined;
  #revertTo: string | null | undefined;

  *decode(stored: Stored): Generator<Item> {
    for (const item of this.#items(stored)) {
      if (item.type === "record") this.#last = item.id;
      yield item;
    }
  }

  /** Emits the rewind, which is known only at the end. */
  *end(): Generator<Item> {
    if (this.#revertTo !== undefined) yield { type: "rewind", to: this.#revertTo };
  }

  #items(stored: Stored): Iterable<Item> {
    switch (stored.type) {
      case "problem":
        return [stored];
      case "session":
        return this.#session(stored.info);
      case "other":
        return [rawItem(stored.name, stored.value, { version: fingerprint(JSON.stringify(stored.value)) })];
      case "message":
        return this.#message(stored.message);
    }
  }

  *#session(info: JsonObject): Generator<Item> {
    const time = objectOf(info.time);
    const at = timeOf(time?.created);
    const { small, large } = splitLeftovers(fieldsBesides(info, ["title"]));
    this.#facts = small ?? {};
    this.#revert = objectOf(info.revert);
    const title = textOf(info.title);
    yield { type: "session", ...definedFields({ title, createdAt: at }), meta: { opencode: this.#facts } };
    if (large) yield rawItem("session:extra", large, { at, version: String(time?.updated) });
  }

  *#message({ info, parts }: StoredMessage): Generator<Item> {
    const position = `#${this.#index++}`;
    const name = textOf(info.id);
    const before = this.#last;
    // A redacted or repeated id cannot name a record.
    const isNamed = name?.startsWith("msg_") === true && !this.#recent.has(name);
    const id = isNamed ? name : position;
    if (isNamed) this.#recent.add(name, before);
    if (this.#revert && name === this.#revert.messageID)
      this.#revertTo = this.#revert.partID === undefined ? (before ?? null) : id;
    const { role } = info;
    if (role !== "user" && role !== "assistant" && role !== "system")
      return yield rawItem(id, { info, parts } as unknown as Json, {});
    yield* this.#whereItems(info);
    const isWhere = JSON.stringify(info.path) === JSON.stringify(this.#facts.path);
    const known = isWhere ? ["path"] : [];
    yield* messageItems({ id, role, info, known, steps: stepsOf(parts, id, this.#callIds) });
    yield* this.#compactionItems(info, parts, id, before);
  }

  /** Reports the working folders once for the session, because every message repeats them. */
  *#whereItems({ path }: JsonObject): Generator<Item> {
    if (path === undefined || this.#facts.path !== undefined) return;
    this.#facts = { ...this.#facts, path: path as Json };
    yield { type: "session", meta: { opencode: this.#facts } };
  }

  *#compactionItems(
    info: JsonObject,
    parts: readonly unknown[],
    id: string,
    before: string | undefined,
  ): Generator<Item> {
    const asked = parts.map(objectOf).find((part) => part?.type === "compaction");
    if (info.role === "user" && asked)
      this.#compaction = { message: info.id, record: id, tail: textOf(asked.tail_start_id) };
    const isWhole = info.finish !== undefined && info.error === undefined;
    if (info.role !== "assistant" || info.summary !== true || !isWhole) return;
    const spans = this.#leftOut(info.parentID, before);
    if (spans.length === 0) return;
    const edit = { type: "summarize", spans, record: id } as const;
    const at = timeOf(objectOf(info.time)?.completed);
    yield recordItem(`${id}:summary`, { kind: "overlay", edit, reason: "compaction" }, { at });
  }

  /** Returns the spans that a summary replaces: everything before it except the tail that the compaction keeps. */
  #leftOut(question: unknown, before: string | undefined): readonly Span[] {
    const asked = this.#compaction?.message === question ? this.#compaction : undefined;
    if (!asked) return before === undefined ? [] : [{ through: before }];
    if (asked.tail === undefined || !this.#recent.has(asked.tail)) return [{ through: asked.record }];
    const last = this.#recent.recordBefore(asked.tail);
    const own = { from: asked.record, through: asked.record };
    return last === undefined ? [own] : [{ through: last }, own];
  }
}
