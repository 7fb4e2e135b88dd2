import { type Entry, type EntryBody, formatEntryId, type MessageBody } from "../../../index.ts";
import type { UsageBody } from "../../../log-entry.ts";
import { toNumber, toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { buildEditDrafts, OWN_ID } from "./edit-drafts.ts";
import { buildMessageDrafts, type DraftSource, type PiDraft } from "./message-drafts.ts";
import { type OwnMeta, PI_FORMATS, parseOwnMeta } from "./own-meta.ts";
import { isPartialRecord, isPartOfEntry } from "./partial-record.ts";
import { PiPlaces } from "./pi-places.ts";
import { encodePiUsage } from "./pi-usage-encode.ts";
import type { SessionSurvey } from "./session-survey.ts";
import { ToolNames } from "./tool-names.ts";

/** pi's own fields of an imported entry. */
type OwnPlace = Pick<OwnMeta, "id" | "parentId" | "timestamp">;

/** Writes the entries of a session file one at a time, in the order of the log. */
export class SessionLines {
  readonly #session: ExportedSession;
  readonly #survey: SessionSurvey;
  readonly #places: PiPlaces;
  readonly #toolNames = new ToolNames();
  readonly #source: DraftSource;
  /** The parent of the next entry, and the last written entry. */
  #tip: string | null = null;
  #last: string | null = null;
  #lastAt = 0;
  /** The line that waits for its usage, which may follow. */
  #waiting: { line: JsonObject; readonly usage: PiDraft["usage"] } | undefined;
  /** A raw record that belongs to the next entry. */
  #extra: { readonly value: JsonObject; readonly entry: Entry } | undefined;

  constructor(session: ExportedSession, survey: SessionSurvey) {
    this.#session = session;
    this.#survey = survey;
    this.#places = new PiPlaces(survey, session.line);
    this.#source = {
      base64: (part) => session.base64(part),
      restore: (part) => session.restore(part),
      toolName: (callId) => this.#toolNames.getName(callId),
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
      if (from !== undefined) this.#tip = this.#places.getTip(from) ?? this.#tip;
      yield* this.#writeEntry(entry);
      this.#places.completeEntry(entry, this.#tip);
    }
    yield* this.#writeExtra();
    // pi continues from the last entry of a file; if the session continues elsewhere, an extra entry marks it.
    if (this.#last !== this.#tip) {
      const fields = { type: "custom", customType: "longhaul.leaf", data: {} };
      yield* this.#write({ fields, parts: [], blocks: [] }, undefined, { at: this.#lastAt });
    }
    yield* this.#flush();
  }

  async *#writeEntry(entry: Entry): AsyncGenerator<JsonObject> {
    if (this.#extra && !isPartOfEntry(this.#extra.value, entry)) yield* this.#writeExtra();
    this.#lastAt = entry.at;
    switch (entry.kind) {
      case "message":
        return yield* this.#writeMessage(entry);
      case "usage":
        return yield* this.#writeUsage(entry);
      case "overlay":
        return yield* this.#writeOverlay(entry);
      case "raw":
        return yield* this.#writeRaw(entry);
      case "notice": {
        const fields = { type: "custom", customType: "longhaul.notice", data: { text: entry.text } };
        return yield* this.#write({ fields, parts: [], blocks: [] }, entry);
      }
      case "line": {
        const end = entry.ranges.at(-1);
        this.#tip = end ? (this.#places.getTip(formatEntryId(end.session, end.to)) ?? this.#tip) : null;
      }
    }
  }

  async *#writeMessage(entry: Entry<MessageBody>): AsyncGenerator<JsonObject> {
    const { message } = entry;
    const at = toNumber(message.meta?.at) ?? entry.at;
    this.#toolNames.addMessage(message);
    const drafts = await buildMessageDrafts(message, at, this.#takeExtra(), this.#source);
    const own = parseOwnMeta(message.meta);
    for (const [index, draft] of drafts.entries())
      yield* this.#write(draft, entry, { at, ...(index === 0 && own && { own }) });
  }

  async *#writeUsage(entry: Entry<UsageBody>): AsyncGenerator<JsonObject> {
    const own = parseOwnMeta(entry.meta);
    const usage = encodePiUsage(entry.usage, own?.rest);
    const { provider, model } = entry;
    if (own?.type !== "usage" && this.#addUsage(usage, provider)) return;
    const who = { provider: provider ?? "unknown", model: model ?? "unknown" };
    const fields = { type: "usage", kind: "request", ...who, ...own?.entry, usage };
    const at = toNumber(entry.meta?.at) ?? entry.at;
    yield* this.#write({ fields, parts: [], blocks: [] }, entry, {
      at,
      ...(own?.id !== undefined && { own }),
    });
  }

  /** Adds usage to the waiting line, where pi stores it; returns false if no line accepts it. */
  #addUsage(usage: JsonObject, provider: string | undefined): boolean {
    const waiting = this.#waiting;
    const message = toObject(waiting?.line.message);
    if (!waiting?.usage || (waiting.usage === "entry" ? waiting.line : message)?.usage !== undefined)
      return false;
    if (waiting.usage === "entry") waiting.line = { ...waiting.line, usage };
    else {
      const isUnknown = message?.provider === "unknown" && provider !== undefined;
      waiting.line = { ...waiting.line, message: { ...message, ...(isUnknown && { provider }), usage } };
    }
    return true;
  }

  async *#writeOverlay(entry: Entry<Extract<EntryBody, { kind: "overlay" }>>): AsyncGenerator<JsonObject> {
    const extra = this.#takeExtra();
    if (this.#survey.reverted.has(entry.id)) return;
    const { line } = this.#session;
    const context = { line, places: this.#places, source: this.#source, extra };
    for (const draft of await buildEditDrafts(entry, context))
      yield* this.#write(draft, entry, { at: entry.madeAt ?? entry.at });
  }

  async *#writeRaw(entry: Entry & { readonly kind: "raw" }): AsyncGenerator<JsonObject> {
    // Raw records of other tools mean nothing to pi.
    if (!PI_FORMATS.includes(entry.format)) return;
    const value = toObject(await this.#session.raw(entry));
    if (!value || toText(value.type) === undefined || value.type === "session") return;
    if (isPartialRecord(value)) this.#extra = { value, entry };
    else yield* this.#write({ fields: value, parts: [], blocks: [] }, entry);
  }

  #takeExtra(): JsonObject | undefined {
    const value = this.#extra?.value;
    this.#extra = undefined;
    return value;
  }

  /** Writes a raw record separately if the next entry does not match it. */
  async *#writeExtra(): AsyncGenerator<JsonObject> {
    const { value: fields, entry } = this.#extra ?? {};
    this.#extra = undefined;
    if (fields && entry) yield* this.#write({ fields, parts: [], blocks: [] }, entry);
  }

  *#write(
    { fields, parts, blocks, usage, callId }: PiDraft,
    entry: Entry | undefined,
    { at = entry?.at ?? 0, own }: { readonly at?: number; readonly own?: OwnPlace } = {},
  ): Generator<JsonObject> {
    yield* this.#flush();
    const {
      type,
      id: ownId = own?.id,
      parentId = own?.parentId,
      timestamp = own?.timestamp,
      ...rest
    } = fields;
    const id = this.#survey.ids.assignId(toText(ownId));
    const base = {
      type,
      id,
      parentId: this.#findParent(parentId),
      timestamp: timestamp ?? new Date(at).toISOString(),
    };
    const isSelf = (rest.firstKeptEntryId as unknown) === OWN_ID;
    this.#waiting = { line: { ...base, ...rest, ...(isSelf && { firstKeptEntryId: id }) }, usage };
    this.#tip = id;
    this.#last = id;
    const role = toObject(rest.message)?.role;
    const isEditable =
      type === "custom_message" || role === "user" || role === "assistant" || role === "toolResult";
    if (entry)
      this.#places.addWritten(entry, {
        id,
        isEditable,
        parts,
        blocks,
        ...(callId !== undefined && { callId }),
      });
  }

  /** pi's own parent applies if the file holds all branches and the parent was written. */
  #findParent(own: unknown): string | null {
    if (this.#survey.which === "line") return this.#tip;
    if (own === null) return null;
    return typeof own === "string" && this.#survey.ids.isWritten(own) ? own : this.#tip;
  }

  *#flush(): Generator<JsonObject> {
    const line = this.#waiting?.line;
    this.#waiting = undefined;
    if (!line) return;
    const message = toObject(line.message);
    const isBare = message?.role === "assistant" && message.usage === undefined;
    yield isBare ? { ...line, message: { ...message, usage: encodePiUsage() } } : line;
  }
}
