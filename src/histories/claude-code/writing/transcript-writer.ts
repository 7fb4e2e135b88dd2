import type { OverlayBody, RawBody, SeqRange, UsageBody } from "../../../kernel/faces/log.ts";
import type { Edit } from "../../../kernel/faces/window.ts";
import {
  type Entry,
  type EntryId,
  type Json,
  type Message,
  type MessageBody,
  type Part,
  textOfMessage,
} from "../../../kernel/index.ts";
import { toArray, toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { deriveUuid } from "../../writing/derive-uuid.ts";
import { revertedIn } from "../../writing/overlays.ts";
import { OWN_FIELD, type OwnFields } from "../own-fields.ts";
import { buildMessageLines, type DraftLine, WrittenEntries } from "./message-lines.ts";
import type { TranscriptIdentity } from "./transcript-identity.ts";

/** The lines of a message that wait for usage and large fields. */
interface PendingMessage {
  readonly lines: readonly DraftLine[];
  readonly entry: Entry<MessageBody>;
  readonly isOnLine: boolean;
  readonly usage?: UsageBody;
}

/** Writes the entries of one session as lines. */
export class TranscriptWriter {
  readonly #session: ExportedSession;
  readonly #identity: TranscriptIdentity;
  readonly #written = new WrittenEntries();
  readonly #reverted: ReadonlySet<EntryId>;
  #pending: PendingMessage | undefined;
  #lines: string[] = [];
  /** Seqs of entries that hold tool result files. */
  readonly files: number[] = [];

  private constructor(
    session: ExportedSession,
    identity: TranscriptIdentity,
    reverted: ReadonlySet<EntryId>,
  ) {
    this.#session = session;
    this.#identity = identity;
    this.#reverted = reverted;
  }

  static async of(session: ExportedSession, identity: TranscriptIdentity): Promise<TranscriptWriter> {
    return new TranscriptWriter(session, identity, await revertedIn(session, "log"));
  }

  /** Yields the lines in pieces. */
  async *text(): AsyncGenerator<string> {
    for await (const { entry, isOnLine } of readOrderedEntries(this.#session)) {
      await this.#addEntry(entry, isOnLine);
      if (this.#lines.length > 0) yield this.#drain();
    }
    this.#flush();
    // Claude Code continues from the last line of a file.
    const { id, createdAt, title } = this.#session.record;
    if (!this.#written.isAtTip) {
      const { fields, ...notice } = buildNoticeLine(`${id}#end`, createdAt, "Rewound");
      this.#write({ ...notice, fields: { ...fields, [OWN_FIELD]: { isRewind: true } } }, true);
    }
    if (title !== undefined && !this.#identity.isOwn)
      this.#print({ type: "custom-title", customTitle: title, sessionId: this.#identity.sessionId });
    if (this.#lines.length > 0) yield this.#drain();
  }

  async #addEntry(entry: Entry, isOnLine: boolean): Promise<void> {
    switch (entry.kind) {
      case "message":
        this.#flush();
        this.#pending = { entry, isOnLine, lines: await buildMessageLines(entry, this.#session) };
        return;
      case "usage":
        this.#addUsage(entry);
        return;
      case "raw":
        return this.#addRaw(entry, isOnLine);
      case "overlay":
        this.#flush();
        return this.#addOverlay(entry, isOnLine);
      case "notice":
        this.#flush();
        this.#write(buildNoticeLine(entry.id, entry.at, entry.text), isOnLine);
        return;
      case "line":
        this.#flush();
        this.#written.goBackTo(entry.ranges.at(-1)?.to ?? 0);
    }
  }

  async #addRaw(entry: Entry<RawBody>, isOnLine: boolean): Promise<void> {
    if (entry.format !== "claude-code") return;
    const value = toObject(await this.#session.raw(entry));
    if (!value) return;
    if (typeof value.of === "string") this.#addFields(value);
    else if (value.toolResultFile !== undefined) this.files.push(entry.seq);
    else if (typeof value.type === "string") {
      this.#flush();
      const uuid = toText(value.uuid);
      if (uuid === undefined) this.#print(value);
      else this.#write(buildRawLine(uuid, entry.at, value), isOnLine);
    }
  }

  async #addOverlay(entry: Entry<OverlayBody>, isOnLine: boolean): Promise<void> {
    // Claude Code's own edits are in the lines that it wrote for them.
    if (entry.author === "claude-code" || this.#reverted.has(entry.id)) return;
    const { edit } = entry;
    if (edit.type === "summarize") {
      for (const line of await buildCompactionLines(entry, edit, this.#session, this.#written))
        this.#write(line, isOnLine);
    } else if (edit.type === "replace") {
      const line = await buildReplacementLine(edit, this.#identity.sessionId, this.#session, this.#written);
      if (line) this.#print(line);
    }
  }

  #addUsage(entry: Entry<UsageBody>): void {
    if (this.#pending?.entry.message.role === "assistant") this.#pending = { ...this.#pending, usage: entry };
  }

  /** Restores fields that were too large for the message's meta onto its line. */
  #addFields({ of, ...fields }: JsonObject): void {
    const [line, ...others] = this.#pending?.lines ?? [];
    if (!this.#pending || !line || line.uuid !== of) return;
    const whole = { ...line, fields: { ...line.fields, ...fields } };
    this.#pending = { ...this.#pending, lines: [whole, ...others] };
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    const [first] = pending?.lines ?? [];
    // An older version of a message shares the ids of the newer one, which was written in its place.
    if (!pending || !first || this.#written.has(first.uuid)) return;
    const { entry, isOnLine } = pending;
    for (const line of pending.lines)
      this.#write({ ...line, fields: this.#completeFields(line.fields, pending) }, isOnLine);
    const calls = entry.message.parts.map((part) => (part.type === "tool-result" ? part.callId : undefined));
    const id = toText(toObject(first.fields.message)?.id);
    this.#written.addEntry(entry.seq, {
      uuid: first.uuid,
      record: id === undefined ? first.uuid : `msg:${id}`,
      calls,
    });
  }

  /** Adds usage, or the id of the calling line, to the fields of a message's line. */
  #completeFields(fields: JsonObject, { usage, entry }: PendingMessage): JsonObject {
    const message = toObject(fields.message) ?? {};
    if (fields.type === "assistant") {
      const report = encodeClaudeCodeUsage(usage);
      const request = usage?.request === undefined ? {} : { requestId: usage.request };
      return { ...fields, message: { ...message, usage: report }, ...request };
    }
    const [result] = entry.message.parts.flatMap((part) =>
      part.type === "tool-result" ? [part.callId] : [],
    );
    const caller = result === undefined ? undefined : this.#written.findCaller(result);
    return caller === undefined ? fields : { sourceToolAssistantUUID: caller, ...fields };
  }

  #write({ uuid, at, parent, fields }: DraftLine, isOnLine: boolean): void {
    if (this.#written.has(uuid)) return;
    const { sessionId, agentId, repeated } = this.#identity;
    const isGiven = parent === null || (typeof parent === "string" && this.#written.has(parent));
    this.#print({
      parentUuid: isGiven ? parent : this.#written.getParent(isOnLine),
      isSidechain: agentId !== undefined,
      ...(agentId !== undefined && { agentId }),
      ...repeated,
      sessionId,
      ...fields,
      uuid,
      timestamp: toText(fields.timestamp) ?? new Date(at).toISOString(),
    });
    this.#written.addLine(uuid, isOnLine);
    for (const block of toArray(toObject(fields.message)?.content)) {
      const { type, id } = toObject(block) ?? {};
      if (type === "tool_use" && typeof id === "string") this.#written.addCaller(id, uuid);
    }
  }

  #print(line: JsonObject): void {
    this.#lines.push(`${JSON.stringify(line)}\n`);
  }

  #drain(): string {
    const text = this.#lines.join("");
    this.#lines = [];
    return text;
  }
}

function buildRawLine(uuid: string, at: number, value: JsonObject): DraftLine {
  const { parentUuid, ...fields } = value;
  if (value.subtype === "compact_boundary") return { uuid, at, parent: null, fields };
  return { uuid, at, fields, ...(parentUuid !== undefined && { parent: parentUuid as Json }) };
}

function buildNoticeLine(id: string, at: number, content: string): DraftLine {
  const fields = { type: "system", subtype: "informational", content, level: "info", isMeta: false };
  return { uuid: deriveUuid(id), at, fields };
}

/** Builds the provider's usage object of a message; zeros if usage is unknown. */
function encodeClaudeCodeUsage(body: Pick<UsageBody, "usage" | "meta"> | undefined): JsonObject {
  const { usage = {}, meta } = body ?? {};
  const { cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens: hour } = usage;
  return {
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    ...(cacheReadTokens !== undefined && { cache_read_input_tokens: cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cache_creation_input_tokens: cacheWriteTokens }),
    ...(hour !== undefined && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, (cacheWriteTokens ?? hour) - hour),
        ephemeral_1h_input_tokens: hour,
      },
    }),
    service_tier: "standard",
    ...toObject(meta?.["claude-code"]),
  };
}

/** An entry, and whether it is on the active line. */
interface OrderedEntry {
  readonly entry: Entry;
  readonly isOnLine: boolean;
}

/**
 * Yields all entries: those of the active line in its order, the others near their place in the log. Entries shared
 * with the origin of a fork come first.
 */
async function* readOrderedEntries(session: ExportedSession): AsyncGenerator<OrderedEntry> {
  const { id } = session.record;
  const own = session.line.filter((range) => range.session === id);
  if (own.length < session.line.length) {
    for await (const entry of session.entries("line")) {
      if (entry.session === id) break;
      yield { entry, isOnLine: true };
    }
  }
  const isRising = own.every((range, index) => index === 0 || (own[index - 1] as SeqRange).to < range.from);
  if (isRising) yield* readInLogOrder(session, own);
  else yield* readInLineOrder(session, own);
}

async function* readInLogOrder(
  session: ExportedSession,
  line: readonly SeqRange[],
): AsyncGenerator<OrderedEntry> {
  let next = 0;
  for await (const entry of session.entries("log")) {
    if (entry.session !== session.record.id) continue;
    while (next < line.length && (line[next] as SeqRange).to < entry.seq) next++;
    yield { entry, isOnLine: next < line.length && (line[next] as SeqRange).from <= entry.seq };
  }
}

/**
 * Orders by the line, for lines on which newer entries replace older ones; entries that left the line follow their
 * predecessors.
 */
async function* readInLineOrder(
  session: ExportedSession,
  line: readonly SeqRange[],
): AsyncGenerator<OrderedEntry> {
  const log = session.entries("log");
  let ahead: Entry | undefined;
  const before = async function* (seq: number): AsyncGenerator<OrderedEntry> {
    for (;;) {
      ahead ??= (await log.next()).value as Entry | undefined;
      if (!ahead || ahead.seq >= seq) return;
      if (!isWithin(ahead.seq, line)) yield { entry: ahead, isOnLine: false };
      ahead = undefined;
    }
  };
  try {
    for await (const entry of session.entries("line")) {
      if (entry.session !== session.record.id) continue;
      if (!isReplacement(entry.seq, line)) yield* before(entry.seq);
      yield { entry, isOnLine: true };
    }
    yield* before(Number.POSITIVE_INFINITY);
  } finally {
    await log.return(undefined);
  }
}

function isWithin(seq: number, line: readonly SeqRange[]): boolean {
  return line.some(({ from, to }) => from <= seq && seq <= to);
}

/** Tells whether older entries follow on the line. */
function isReplacement(seq: number, line: readonly SeqRange[]): boolean {
  const index = line.findIndex(({ from, to }) => from <= seq && seq <= to);
  return line.slice(index + 1).some(({ from }) => from < seq);
}

type OverlayEntry = Entry<OverlayBody>;

/** Builds the boundary and summary lines of a compaction that was not Claude Code's. */
async function buildCompactionLines(
  entry: OverlayEntry,
  edit: Extract<Edit, { type: "summarize" }>,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<readonly DraftLine[]> {
  const summary = await readSummary(edit, session, written);
  const last = Math.max(
    0,
    ...edit.ranges.filter((range) => range.session === entry.session).map(({ to }) => to),
  );
  const head = written.findFirstAfter(last);
  if (!summary || written.tip === null) return [];
  const [uuid, summaryUuid] = [deriveUuid(`${entry.id}.boundary`), deriveUuid(`${entry.id}.summary`)];
  const at = entry.madeAt ?? entry.at;
  const kept = head && { headUuid: head, anchorUuid: summaryUuid, tailUuid: written.tip };
  const compactMetadata = {
    trigger: "auto",
    preTokens: entry.tokensBefore ?? 0,
    ...(kept && { preservedSegment: kept }),
  };
  const boundary = {
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    level: "info",
    isMeta: false,
    logicalParentUuid: written.tip,
    compactMetadata,
  };
  const message = { role: "user", content: summary.text };
  const flags = { isVisibleInTranscriptOnly: true, isCompactSummary: true };
  return [
    { uuid, at, parent: null, fields: boundary },
    {
      uuid: summaryUuid,
      at,
      fields: { type: "user", message, ...flags, [OWN_FIELD]: { summary: summary.own } },
    },
  ];
}

async function readSummary(
  edit: Extract<Edit, { type: "summarize" }>,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<{ readonly text: string; readonly own: OwnFields["summary"] } | undefined> {
  if (edit.messages) {
    const messages: Message[] = [];
    for (const message of edit.messages) messages.push(await restoreParts(message, session));
    return { text: messages.map(textOfMessage).join("\n\n"), own: { messages: messages.map(toBareMessage) } };
  }
  const record = edit.entry === undefined ? undefined : written.findRecord(edit.entry);
  if (record === undefined) return undefined;
  for await (const entry of session.entries("log")) {
    if (entry.seq !== edit.entry || entry.kind !== "message") continue;
    return { text: textOfMessage(await restoreParts(entry.message, session)), own: { record } };
  }
  return undefined;
}

function toBareMessage({ role, parts }: Message) {
  return { role, parts: parts.filter((part) => part.type === "text" || part.type === "reasoning") };
}

async function restoreParts(message: Message, session: ExportedSession): Promise<Message> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await session.restore(part));
  return { ...message, parts };
}

/** Builds the line that replaces tool results; undefined if the edit replaces something else. */
async function buildReplacementLine(
  edit: Extract<Edit, { type: "replace" }>,
  sessionId: string,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<JsonObject | undefined> {
  const { target } = edit;
  const call = "callId" in target ? target.callId : written.findCall(target.seq, target.part);
  if (call === undefined) return undefined;
  const results = edit.parts.filter((part) => part.type === "tool-result");
  const replaced = results.length > 0 ? results : [{ callId: call, output: edit.parts }];
  const replacements: Json[] = [];
  for (const { callId, output } of replaced)
    replacements.push({
      kind: "tool-result",
      toolUseId: callId,
      replacement: await textOfOutput(output, session),
    });
  return { type: "content-replacement", sessionId, replacements };
}

async function textOfOutput(output: readonly Part[], session: ExportedSession): Promise<string> {
  const { parts } = await restoreParts({ role: "user", parts: output }, session);
  return parts
    .map((part) => (part.type === "text" ? part.text : `[${part.type === "blob" ? part.mime : part.type}]`))
    .join("\n");
}
