import { computeFingerprint } from "../../base/digest.ts";
import type { Json } from "../../index.ts";
import { dropUndefined, omitFields, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item, Span } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { CallIds } from "./call-ids.ts";
import { decodeOpencodeMessage } from "./opencode-message.ts";
import { splitSteps } from "./opencode-steps.ts";
import { RecentMessages } from "./recent-messages.ts";
import { buildRawItem, buildRecordItem } from "./record-items.ts";
import type { StoredItem, StoredMessage } from "./stored-item.ts";

/** A user message that requests a compaction. */
interface CompactionRequest {
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
  #compaction: CompactionRequest | undefined;
  #facts: Leftovers = {};
  #revert: JsonObject | undefined;
  #revertTo: string | null | undefined;

  *decode(stored: StoredItem): Generator<Item> {
    for (const item of this.#decodeItem(stored)) {
      if (item.type === "record") this.#last = item.id;
      yield item;
    }
  }

  /** Emits the rewind, which is known only at the end. */
  *end(): Generator<Item> {
    if (this.#revertTo !== undefined) yield { type: "rewind", to: this.#revertTo };
  }

  #decodeItem(stored: StoredItem): Iterable<Item> {
    switch (stored.type) {
      case "problem":
        return [stored];
      case "session":
        return this.#decodeSession(stored.info);
      case "other":
        return [
          buildRawItem(stored.name, stored.value, {
            version: computeFingerprint(JSON.stringify(stored.value)),
          }),
        ];
      case "message":
        return this.#decodeMessage(stored.message);
    }
  }

  *#decodeSession(info: JsonObject): Generator<Item> {
    const time = toObject(info.time);
    const at = toTime(time?.created);
    const { small, large } = splitLeftovers(omitFields(info, ["title"]));
    this.#facts = small ?? {};
    this.#revert = toObject(info.revert);
    const title = toText(info.title);
    yield { type: "session", ...dropUndefined({ title, createdAt: at }), meta: { opencode: this.#facts } };
    if (large) yield buildRawItem("session:extra", large, { at, version: String(time?.updated) });
  }

  *#decodeMessage({ info, parts }: StoredMessage): Generator<Item> {
    const position = `#${this.#index++}`;
    const name = toText(info.id);
    const before = this.#last;
    // A redacted or repeated id cannot name a record.
    const isNamed = name?.startsWith("msg_") === true && !this.#recent.has(name);
    const id = isNamed ? name : position;
    if (isNamed) this.#recent.add(name, before);
    if (this.#revert && name === this.#revert.messageID)
      this.#revertTo = this.#revert.partID === undefined ? (before ?? null) : id;
    const { role } = info;
    if (role !== "user" && role !== "assistant" && role !== "system")
      return yield buildRawItem(id, { info, parts } as unknown as Json, {});
    yield* this.#reportFolders(info);
    const isWhere = JSON.stringify(info.path) === JSON.stringify(this.#facts.path);
    const known = isWhere ? ["path"] : [];
    yield* decodeOpencodeMessage({ id, role, info, known, steps: splitSteps(parts, id, this.#callIds) });
    yield* this.#decodeCompaction(info, parts, id, before);
  }

  /** Reports the working folders once for the session, because every message repeats them. */
  *#reportFolders({ path }: JsonObject): Generator<Item> {
    if (path === undefined || this.#facts.path !== undefined) return;
    this.#facts = { ...this.#facts, path: path as Json };
    yield { type: "session", meta: { opencode: this.#facts } };
  }

  *#decodeCompaction(
    info: JsonObject,
    parts: readonly unknown[],
    id: string,
    before: string | undefined,
  ): Generator<Item> {
    const asked = parts.map(toObject).find((part) => part?.type === "compaction");
    if (info.role === "user" && asked)
      this.#compaction = { message: info.id, record: id, tail: toText(asked.tail_start_id) };
    const isWhole = info.finish !== undefined && info.error === undefined;
    if (info.role !== "assistant" || info.summary !== true || !isWhole) return;
    const spans = this.#findReplacedSpans(info.parentID, before);
    if (spans.length === 0) return;
    const edit = { type: "summarize", spans, record: id } as const;
    const at = toTime(toObject(info.time)?.completed);
    yield buildRecordItem(`${id}:summary`, { kind: "overlay", edit, reason: "compaction" }, { at });
  }

  /** Returns the spans that a summary replaces: everything before it except the tail that the compaction keeps. */
  #findReplacedSpans(question: unknown, before: string | undefined): readonly Span[] {
    const asked = this.#compaction?.message === question ? this.#compaction : undefined;
    if (!asked) return before === undefined ? [] : [{ through: before }];
    if (asked.tail === undefined || !this.#recent.has(asked.tail)) return [{ through: asked.record }];
    const last = this.#recent.findRecordBefore(asked.tail);
    const own = { from: asked.record, through: asked.record };
    return last === undefined ? [own] : [{ through: last }, own];
  }
}
