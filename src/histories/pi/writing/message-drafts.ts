import type { SeqRange } from "../../../kernel/faces/log.ts";
import {
  type Entry,
  type EntryId,
  type Message,
  type Part,
  type ToolResultPart,
  textOfMessage,
} from "../../../kernel/index.ts";
import { hasSeq } from "../../../model/line.ts";
import { toObject } from "../../../wire/fields.ts";
import type { PartSource } from "../../../wire/part-source.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { type OwnMeta, parseOwnMeta } from "./own-meta.ts";
import { encodePiBlocks } from "./pi-block-encode.ts";
import type { SessionSurvey } from "./session-survey.ts";

/** An outgoing entry without id and parent. */
export interface PiDraft {
  readonly fields: JsonObject;
  /** Indexes of the message parts it holds. */
  readonly parts: readonly number[];
  /** Content blocks, one per part; empty if the entry has no such content. */
  readonly blocks: readonly JsonObject[];
  /** Place of usage: in pi's message, or in the entry itself. */
  readonly usage?: "message" | "entry";
  readonly callId?: string;
}

/** Context for writing messages. */
export interface DraftSource extends PartSource {
  /** Returns the tool name of a call. */
  toolName(callId: string): string | undefined;
}

/** Builds the entries of a message. In pi each tool result is a separate entry. */
export async function buildMessageDrafts(
  message: Message,
  at: number,
  extra: JsonObject | undefined,
  source: DraftSource,
): Promise<readonly PiDraft[]> {
  const own = parseOwnMeta(message.meta);
  const spoken = own && (await buildSpecialDraft(message, own, { at, extra, source }));
  if (spoken) return [spoken];
  const base = { timestamp: at, ...own?.message, ...toObject(extra?.message) };
  const wrap = (inner: JsonObject): JsonObject => ({
    type: "message",
    ...own?.entry,
    ...getEntryFields(extra),
    message: inner,
  });
  const drafts: PiDraft[] = [];
  const others: number[] = [];
  for (const [index, part] of message.parts.entries()) {
    if (part.type !== "tool-result") {
      others.push(index);
      continue;
    }
    const blocks = await encodePiBlocks([part], source);
    const result = buildResultFields(part, own?.isPlain ? joinBlockTexts(blocks) : blocks, source);
    drafts.push({
      fields: wrap({ ...result, ...base }),
      parts: [index],
      blocks,
      // For other formats, usage cannot be attributed to the tool.
      ...(own && { usage: "message" }),
      callId: part.callId,
    });
  }
  if (drafts.length > 0 && others.length === 0) return drafts;
  const rest = others.map((index) => message.parts[index] as Part);
  const blocks = await encodePiBlocks(rest, source, own?.extras);
  const isPlain = own ? own.isPlain : message.role === "system";
  const content = isPlain ? joinBlockTexts(blocks) : own ? blocks : dropUnsendable(rest, blocks);
  const role = message.role === "tool" ? "user" : message.role;
  if (role !== "assistant")
    return [...drafts, { fields: wrap({ role, content, ...base }), parts: others, blocks }];
  const hasCalls = blocks.some(({ type }) => type === "toolCall");
  const fields = {
    role,
    content,
    api: "unknown",
    provider: "unknown",
    model: message.model ?? "unknown",
    stopReason: message.interrupted ? "aborted" : hasCalls ? "toolUse" : "stop",
    ...base,
  };
  return [...drafts, { fields: wrap(fields), parts: others, blocks, usage: "message" }];
}

/** Builds the entry of special messages: from extensions, user commands, summaries. */
async function buildSpecialDraft(
  message: Message,
  own: OwnMeta,
  { at, extra, source }: { at: number; extra: JsonObject | undefined; source: DraftSource },
): Promise<PiDraft | undefined> {
  const all = message.parts.map((_, index) => index);
  if (own.type === "custom_message") {
    const blocks = await encodePiBlocks(message.parts, source, own.extras);
    const content = own.isPlain ? joinBlockTexts(blocks) : blocks;
    const fields = { type: own.type, ...own.entry, ...getEntryFields(extra), content };
    return { fields, parts: all, blocks, usage: "entry" };
  }
  if (own.type === "branch_summary") {
    const summary = await readMessageText(message, source);
    const fields = { type: own.type, ...own.entry, ...getEntryFields(extra), summary };
    return { fields, parts: [], blocks: [], usage: "entry" };
  }
  if (own.role === undefined) return undefined;
  const role = own.role === "hookMessage" ? "custom" : own.role;
  const inner = { timestamp: at, ...own.message, ...toObject(extra?.message) };
  const wrap = (fields: JsonObject): JsonObject => ({
    type: "message",
    ...own.entry,
    ...getEntryFields(extra),
    message: { role, ...fields, ...inner },
  });
  if (role === "bashExecution") {
    const [ran, output] = await Promise.all(message.parts.map((part) => source.restore(part)));
    const command = ran?.type === "text" ? ran.text.slice("Ran `".length, -1) : "";
    return {
      fields: wrap({ command, output: output?.type === "text" ? output.text : "" }),
      parts: [],
      blocks: [],
    };
  }
  if (role === "branchSummary" || role === "compactionSummary")
    return { fields: wrap({ summary: await readMessageText(message, source) }), parts: [], blocks: [] };
  const blocks = await encodePiBlocks(message.parts, source, own.extras);
  const content = own.isPlain ? joinBlockTexts(blocks) : blocks;
  return { fields: wrap({ content }), parts: all, blocks };
}

/**
 * Drops blocks that pi cannot show a model, raw parts of other tools and empty thoughts, unless there are no others.
 */
function dropUnsendable(parts: readonly Part[], blocks: readonly JsonObject[]): readonly JsonObject[] {
  const isSaid = ({ type, thinking, thinkingSignature }: JsonObject, index: number) =>
    parts[index]?.type !== "raw" &&
    !(type === "thinking" && thinking === "" && thinkingSignature === undefined);
  const said = blocks.filter(isSaid);
  return said.length > 0 ? said : blocks;
}

function buildResultFields(part: ToolResultPart, content: unknown, source: DraftSource): JsonObject {
  return {
    role: "toolResult",
    toolCallId: part.callId,
    toolName: part.name ?? source.toolName(part.callId) ?? "unknown",
    content,
    isError: part.isError ?? false,
  };
}

/** Returns the fields of an extra record that belong to the entry itself. */
function getEntryFields(extra: JsonObject | undefined): JsonObject {
  const { type: _, id: _id, message: _message, ...fields } = extra ?? {};
  return fields;
}

/** Returns the text of a message, with its parts restored from blobs. */
export async function readMessageText(message: Message, source: PartSource): Promise<string> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await source.restore(part));
  return textOfMessage({ ...message, parts });
}

function joinBlockTexts(blocks: readonly JsonObject[]): string {
  return blocks.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}

/** A written entry that later entries may refer to. */
export interface WrittenPiEntry {
  readonly id: string;
  /** True if pi lets its content be edited. */
  readonly isEditable: boolean;
  readonly parts: readonly number[];
  readonly blocks: readonly JsonObject[];
  readonly callId?: string;
}

/** Ids of written entries, as far as later entries need them. */
export class PiPlaces {
  readonly #survey: SessionSurvey;
  readonly #line: readonly SeqRange[];
  readonly #tips = new Map<EntryId, string | null>();
  readonly #written = new Map<EntryId, WrittenPiEntry[]>();
  readonly #calls = new Map<string, WrittenPiEntry>();
  readonly #hidden: { readonly place: Entry; readonly id: string }[] = [];
  /** The first written entry after each compacted range; undefined until it is written. */
  readonly #firstAfter = new Map<EntryId, string | undefined>();

  constructor(survey: SessionSurvey, line: readonly SeqRange[]) {
    this.#survey = survey;
    this.#line = line;
  }

  /** Notes an entry that was written for a log entry. */
  addWritten(place: Entry, written: WrittenPiEntry): void {
    const { wanted, wantedCalls, hidden } = this.#survey;
    const { id, callId } = written;
    if (wanted.has(place.id)) this.#written.set(place.id, [...(this.#written.get(place.id) ?? []), written]);
    if (callId !== undefined && wantedCalls.has(callId)) this.#calls.set(callId, written);
    if (written.isEditable && hasSeq(hidden, place)) this.#hidden.push({ place, id });
    for (const [end, known] of this.#firstAfter)
      if (known === undefined && hasSeq(this.#line, place)) this.#firstAfter.set(end, id);
  }

  /** Notes that a log entry is complete; the next entry would follow `tip`. */
  completeEntry(place: Entry, tip: string | null): void {
    if (this.#survey.wanted.has(place.id)) this.#tips.set(place.id, tip);
    if (this.#survey.ends.has(place.id)) this.#firstAfter.set(place.id, undefined);
  }

  /** Returns the last written entry when a log entry was complete. */
  getTip(place: EntryId): string | null | undefined {
    return this.#tips.get(place);
  }

  getWritten(place: EntryId): readonly WrittenPiEntry[] {
    return this.#written.get(place) ?? [];
  }

  getResult(callId: string): WrittenPiEntry | undefined {
    return this.#calls.get(callId);
  }

  getFirstAfter(end: EntryId): string | undefined {
    return this.#firstAfter.get(end);
  }

  findHidden(ranges: readonly SeqRange[]): readonly string[] {
    return this.#hidden.filter(({ place }) => hasSeq(ranges, place)).map(({ id }) => id);
  }
}
