import { type Entry, type EntryBody, entryId, type MessageBody, type UsageBody } from "../../../index.ts";
import { numberOf, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { ExportedSession } from "../writer.ts";
import { editDrafts, OWN_ID } from "./edit-drafts.ts";
import { belongsTo, isPartial } from "./extras.ts";
import { type Draft, type DraftSource, draftsOf } from "./message-drafts.ts";
import { OWN_FORMATS, type OwnMeta, ownMetaOf } from "./own-meta.ts";
import { Places } from "./places.ts";
import type { Survey } from "./survey.ts";
import { ToolNames } from "./tool-names.ts";
import { piUsage } from "./usage.ts";

/** pi's own fields of an imported entry. */
type Own = Pick<OwnMeta, "id" | "parentId" | "timestamp">;

/** Writes the entries of a session file one at a time, in the order of the log. */
export class SessionLines {
  readonly #session: ExportedSession;
  readonly #survey: Survey;
  readonly #places: Places;
  readonly #toolNames = new ToolNames();
  readonly #source: DraftSource;
  /** The parent of the next entry, and the last written entry. */
  #tip: string | null = null;
  #last: string | null = null;
  #lastAt = 0;
  /** The line that waits for its usage, which may follow. */
  #waiting: { line: JsonObject; readonly usage: Draft["usage"] } | undefined;
  /** A raw record that belongs to the next entry. */
  #extra: { readonly value: JsonObject; readonly entry: Entry } | undefined;

  constructor(session: ExportedSession, survey: Survey) {
    this.#session = session;
    this.#survey = survey;
    this.#places = new Places(survey, session.line);
    this.#source = {
      base64: (part) => session.base64(part),
      restore: (part) => session.restore(part),
      toolName: (callId) => this.#toolNames.of(callId),
    };
  }

  /** Yields the entries; `title` becomes pi's session name. */
  async *lines(title?: string): AsyncGenerator<JsonObject> {
    const { which, jumps } = this.#survey;
    if (title !== undefined) {
      const fields = { type: "session_info", name: title };
      yield* this.#write({ fields, parts: [], blocks: [] }, undefined, {
        at: this.#session.record.createdAt,
      });
    }
    for await (const entry of this.#session.entries(which)) {
      const from = jumps.get(entry.id);
      if (from !== undefined) this.#tip = this.#places.tipAt(from) ?? this.#tip;
      yield* this.#entry(entry);
      this.#places.leave(entry, this.#tip);
    }
    yield* this.#freeExtra();
    // pi continues from the last entry of a file; if the session continues elsewhere, an extra entry marks it.
    if (this.#last !== this.#tip) {
      const fields = { type: "custom", customType: "longhaul.leaf", data: {} };
      yield* this.#write({ fields, parts: [], blocks: [] }, undefined, { at: this.#lastAt });
    }
    yield* this.#flush();
  }

  async *#entry(entry: Entry): AsyncGenerator<JsonObject> {
    if (this.#extra && !belongsTo(this.#extra.value, entry)) yield* this.#freeExtra();
    this.#lastAt = entry.at;
    switch (entry.kind) {
      case "message":
        return yield* this.#message(entry);
      case "usage":
        return yield* this.#usage(entry);
      case "overlay":
        return yield* this.#overlay(entry);
      case "raw":
        return yield* this.#raw(entry);
      case "notice": {
        const fields = { type: "custom", customType: "longhaul.notice", data: { text: entry.text } };
        return yield* this.#write({ fields, parts: [], blocks: [] }, entry);
      }
      case "line": {
        const end = entry.ranges.at(-1);
        this.#tip = end ? (this.#places.tipAt(entryId(end.session, end.to)) ?? this.#tip) : null;
      }
    }
  }

  async *#message(entry: Entry<MessageBody>): AsyncGenerator<JsonObject> {
    const { message } = entry;
    const at = numberOf(message.meta?.at) ?? entry.at;
    this.#toolNames.see(message);
    const drafts = await draftsOf(message, at, this.#takeExtra(), this.#source);
    const own = ownMetaOf(message.meta);
    for (const [index, draft] of drafts.entries())
      yield* this.#write(draft, entry, { at, ...(index === 0 && own && { own }) });
  }

  async *#usage(entry: Entry<UsageBody>): AsyncGenerator<JsonObject> {
    const own = ownMetaOf(entry.meta);
    const usage = piUsage(entry.usage, own?.rest);
    const { provider, model } = entry;
    if (own?.type !== "usage" && this.#addUsage(usage, provider)) return;
    const who = { provider: provider ?? "unknown", model: model ?? "unknown" };
    const fields = { type: "usage", kind: "request", ...who, ...own?.entry, usage };
    const at = numberOf(entry.meta?.at) ?? entry.at;
    yield* this.#write({ fields, parts: [], blocks: [] }, entry, {
      at,
      ...(own?.id !== undefined && { own }),
    });
  }

  /** Adds usage to the waiting line, where pi stores it; returns false if no line accepts it. */
  #addUsage(usage: JsonObject, provider: string | undefined): boolean {
    const waiting = this.#waiting;
    const message = objectOf(waiting?.line.message);
    if (!waiting?.usage || (waiting.usage === "entry" ? waiting.line : message)?.usage !== undefined)
      return false;
    if (waiting.usage === "entry") waiting.line = { ...waiting.line, usage };
    else {
      const isUnknown = message?.provider === "unknown" && provider !== undefined;
      waiting.line = { ...waiting.line, message: { ...message, ...(isUnknown && { provider }), usage } };
    }
    return true;
  }

  async *#overlay(entry: Entry<Extract<EntryBody, { kind: "overlay" }>>): AsyncGenerator<JsonObject> {
    const extra = this.#takeExtra();
    if (this.#survey.reverted.has(entry.id)) return;
    const { line } = this.#session;
    const context = { line, places: this.#places, source: this.#source, extra };
    for (const draft of await editDrafts(entry, context))
      yield* this.#write(draft, entry, { at: entry.madeAt ?? entry.at });
  }

  async *#raw(entry: Entry & { readonly kind: "raw" }): AsyncGenerator<JsonObject> {
    // Raw records of other tools mean nothing to pi.
    if (!OWN_FORMATS.includes(entry.format)) return;
    const value = objectOf(await this.#session.raw(entry));
    if (!value || textOf(value.type) === undefined || value.type === "session") return;
    if (isPartial(value)) this.#extra = { value, entry };
    else yield* this.#write({ fields: value, parts: [], blocks: [] }, entry);
  }

  #takeExtra(): JsonObject | undefined {
    const value = this.#extra?.value;
    this.#extra = undefined;
    return value;
  }

  /** Writes a raw record separately if the next entry does not match it. */
  async *#freeExtra(): AsyncGenerator<JsonObject> {
    const { value: fields, entry } = this.#extra ?? {};
    this.#extra = undefined;
    if (fields && entry) yield* this.#write({ fields, parts: [], blocks: [] }, entry);
  }

  *#write(
    { fields, parts, blocks, usage, callId }: Draft,
    entry: Entry | undefined,
    { at = entry?.at ?? 0, own }: { readonly at?: number; readonly own?: Own } = {},
  ): Generator<JsonObject> {
    yield* this.#flush();
    const {
      type,
      id: ownId = own?.id,
      parentId = own?.parentId,
      timestamp = own?.timestamp,
      ...rest
    } = fields;
    const id = this.#survey.ids.take(textOf(ownId));
    const base = {
      type,
      id,
      parentId: this.#parentOf(parentId),
      timestamp: timestamp ?? new Date(at).toISOString(),
    };
    const isSelf = (rest.firstKeptEntryId as unknown) === OWN_ID;
    this.#waiting = { line: { ...base, ...rest, ...(isSelf && { firstKeptEntryId: id }) }, usage };
    this.#tip = id;
    this.#last = id;
    const role = objectOf(rest.message)?.role;
    const isEditable =
      type === "custom_message" || role === "user" || role === "assistant" || role === "toolResult";
    if (entry)
      this.#places.note(entry, { id, isEditable, parts, blocks, ...(callId !== undefined && { callId }) });
  }

  /** pi's own parent applies if the file holds all branches and the parent was written. */
  #parentOf(own: unknown): string | null {
    if (this.#survey.which === "line") return this.#tip;
    if (own === null) return null;
    return typeof own === "string" && this.#survey.ids.isWritten(own) ? own : this.#tip;
  }

  *#flush(): Generator<JsonObject> {
    const line = this.#waiting?.line;
    this.#waiting = undefined;
    if (!line) return;
    const message = objectOf(line.message);
    const isBare = message?.role === "assistant" && message.usage === undefined;
    yield isBare ? { ...line, message: { ...message, usage: piUsage() } } : line;
  }
}
