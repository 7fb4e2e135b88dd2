import type { OverlayBody, SeqRange, UsageBody } from "../../../kernel/faces/log.ts";
import {
  type Entry,
  type EntryBody,
  formatEntryId,
  type Message,
  type MessageBody,
  type Part,
  type Usage,
} from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toText as stringOf, toNumber, toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { sumTokens } from "../pi-usage-decode.ts";
import {
  buildMessageDrafts,
  type DraftSource,
  type PiDraft,
  PiPlaces,
  readMessageText,
  type WrittenPiEntry,
} from "./message-drafts.ts";
import { type OwnMeta, PI_FORMATS, parseOwnMeta } from "./own-meta.ts";
import { encodePiBlocks } from "./pi-block-encode.ts";
import { type SessionSurvey, splitBeginning } from "./session-survey.ts";

/** Maximum calls to remember until their results come. */
const MAX_CALLS = 1000;

/** Placeholder for the id that the entry itself will get. */
const OWN_ID = Symbol("own id");

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
      this.#places.addWritten(
        entry,
        dropUndefined({
          id,
          isEditable,
          parts,
          blocks,
          callId,
        }),
      );
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

/** Builds usage in pi's format; `rest` holds further imported fields. Unknown values are zero. */
function encodePiUsage(usage: Usage = {}, rest?: JsonObject): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, cost = 0 } = usage;
  const shares = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...toObject(rest?.cost) };
  return {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    ...dropUndefined({ cacheWrite1h: usage.cacheWriteHourTokens, reasoning: usage.reasoningTokens }),
    totalTokens: sumTokens(usage),
    ...rest,
    cost: { ...shares, total: cost },
  };
}

/** Tool names of recent calls, which pi repeats in the result. */
class ToolNames {
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

/** Tells whether a raw record only holds fields that the next entry could not represent. */
function isPartialRecord(value: JsonObject): boolean {
  switch (value.type) {
    case "message":
      return toObject(value.message)?.role === undefined;
    case "custom_message":
      return value.content === undefined;
    case "branch_summary":
    case "compaction":
      return value.summary === undefined;
    default:
      return value.type === "context_edit";
  }
}

/** Tells whether a partial record belongs to the entry. */
function isPartOfEntry(value: JsonObject, entry: Entry): boolean {
  const isEdit = value.type === "compaction" || value.type === "context_edit";
  if (entry.kind === "overlay") return isEdit && PI_FORMATS.includes(entry.author);
  return entry.kind === "message" && !isEdit && parseOwnMeta(entry.message.meta)?.id === value.id;
}

/** Context for writing an edit. */
interface EditContext {
  readonly line: readonly SeqRange[];
  readonly places: PiPlaces;
  readonly source: DraftSource;
  /** pi's original entry of the edit, without the fields that the edit holds. */
  readonly extra: JsonObject | undefined;
}

/** Builds the entries that give pi the same window as an edit gives us. */
async function buildEditDrafts(entry: Entry<OverlayBody>, context: EditContext): Promise<readonly PiDraft[]> {
  const { edit } = entry;
  switch (edit.type) {
    case "summarize":
      return buildSummaryDrafts(entry, edit, context);
    case "hide":
      if (context.extra) return [buildDraft({ ...context.extra })];
      return context.places.findHidden(edit.ranges).map(buildRemoval);
    case "replace":
      return buildReplaceDrafts(entry, edit, context);
    case "plan":
    case "revert":
      return [];
  }
}

type OverlayEdit<T extends OverlayBody["edit"]["type"]> = Extract<OverlayBody["edit"], { type: T }>;

async function buildSummaryDrafts(
  entry: Entry<OverlayBody>,
  edit: OverlayEdit<"summarize">,
  context: EditContext,
): Promise<readonly PiDraft[]> {
  const { line, places, source, extra } = context;
  const { beginning, others } = splitBeginning(edit.ranges, line);
  const [own] = edit.entry === undefined ? [] : places.getWritten(formatEntryId(entry.session, edit.entry));
  const [first, ...rest] = edit.messages ?? [];
  const isOwn = extra !== undefined;
  const summary = first
    ? await joinTexts(isOwn ? [first] : [first, ...rest], source)
    : (own?.blocks ?? []).flatMap(({ text }) => stringOf(text) ?? []).join("\n");
  const hidden = places.findHidden(others).map(buildRemoval);
  if (!beginning) {
    const fields = {
      type: "custom_message",
      customType: "longhaul.summary",
      content: summary,
      display: true,
    };
    return [...hidden, buildDraft(fields)];
  }
  const { firstKeptEntryIndex: _, ...kept } = extra ?? {};
  const behind = places.getFirstAfter(formatEntryId(beginning.session, beginning.to));
  const tail = isOwn && rest.length > 0 ? { retainedTail: await buildTail(rest, entry.at, source) } : {};
  const fields = {
    type: "compaction",
    ...(rest.length > 0 && isOwn ? {} : { firstKeptEntryId: behind ?? OWN_ID }),
    ...kept,
    summary,
    tokensBefore: entry.tokensBefore ?? 0,
    ...tail,
  };
  return [...hidden, { ...buildDraft(fields as JsonObject), usage: "entry" }];
}

async function joinTexts(messages: readonly Message[], source: DraftSource): Promise<string> {
  const texts: string[] = [];
  for (const message of messages) texts.push(await readMessageText(message, source));
  return texts.join("\n\n");
}

async function buildTail(
  messages: readonly Message[],
  at: number,
  source: DraftSource,
): Promise<readonly unknown[]> {
  const tail: unknown[] = [];
  for (const message of messages)
    for (const { fields } of await buildMessageDrafts(message, at, undefined, source))
      tail.push(fields.message);
  return tail;
}

async function buildReplaceDrafts(
  entry: Entry<OverlayBody>,
  edit: OverlayEdit<"replace">,
  { places, source, extra }: EditContext,
): Promise<readonly PiDraft[]> {
  const { target, parts } = edit;
  const content = await encodePiBlocks(parts, source);
  if (extra) return [buildDraft({ ...extra, replacement: { content } })];
  if ("callId" in target) {
    const written = places.getResult(target.callId);
    return written ? [buildReplacement(written, content)] : [];
  }
  const written = places
    .getWritten(formatEntryId(entry.session, target.seq))
    .filter(({ isEditable }) => isEditable);
  const { part } = target;
  if (part === undefined) return replaceWhole(written, parts, content, source);
  const holder = written.find((one) => one.parts.includes(part));
  if (!holder) return [];
  if (holder.callId !== undefined) return [buildReplacement(holder, content)];
  const at = holder.parts.indexOf(part);
  return [
    buildReplacement(
      holder,
      holder.blocks.flatMap((block, index) => (index === at ? content : [block])),
    ),
  ];
}

/** Replaces all parts of a message: each tool result gets its own part, and another entry the rest. */
async function replaceWhole(
  written: readonly WrittenPiEntry[],
  parts: readonly Part[],
  content: readonly JsonObject[],
  source: DraftSource,
): Promise<readonly PiDraft[]> {
  const drafts: PiDraft[] = [];
  for (const one of written) {
    const results = parts.filter((part) => part.type === "tool-result" && part.callId === one.callId);
    if (one.callId === undefined) {
      const rest = parts.filter(({ type }) => type !== "tool-result");
      drafts.push(buildReplacement(one, await encodePiBlocks(rest, source)));
    } else
      drafts.push(
        buildReplacement(one, results.length > 0 ? await encodePiBlocks(results, source) : content),
      );
  }
  return drafts;
}

function buildReplacement({ id }: WrittenPiEntry, content: readonly JsonObject[]): PiDraft {
  return buildDraft({ type: "context_edit", targetId: id, replacement: { content } });
}

function buildRemoval(id: string): PiDraft {
  return buildDraft({ type: "context_edit", targetId: id, replacement: null });
}

function buildDraft(fields: JsonObject): PiDraft {
  return { fields, parts: [], blocks: [] };
}
