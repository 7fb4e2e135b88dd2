import type { Entry, EntryId, Json, MessageBody, OverlayBody, RawBody, UsageBody } from "../../../index.ts";
import { OWN_FIELD } from "../../claude-code/own-fields.ts";
import { arrayOf, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { revertedIn } from "../overlays.ts";
import type { ExportedSession } from "../writer.ts";
import { derivedUuid } from "./derived-ids.ts";
import { compactionLines, replacementLine } from "./edit-lines.ts";
import type { Identity } from "./identity.ts";
import { type DraftLine, messageLines } from "./message-lines.ts";
import { orderedEntries } from "./ordered-entries.ts";
import { usageReport } from "./usage-report.ts";
import { WrittenEntries } from "./written-entries.ts";

/** The lines of a message that wait for usage and large fields. */
interface Pending {
  readonly lines: readonly DraftLine[];
  readonly entry: Entry<MessageBody>;
  readonly isOnLine: boolean;
  readonly usage?: UsageBody;
}

/** Writes the entries of one session as lines. */
export class Transcript {
  readonly #session: ExportedSession;
  readonly #identity: Identity;
  readonly #written = new WrittenEntries();
  readonly #reverted: ReadonlySet<EntryId>;
  #pending: Pending | undefined;
  #out: string[] = [];
  /** Seqs of entries that hold tool result files. */
  readonly files: number[] = [];

  private constructor(session: ExportedSession, identity: Identity, reverted: ReadonlySet<EntryId>) {
    this.#session = session;
    this.#identity = identity;
    this.#reverted = reverted;
  }

  static async of(session: ExportedSession, identity: Identity): Promise<Transcript> {
    return new Transcript(session, identity, await revertedIn(session, "log"));
  }

  /** Yields the lines in pieces. */
  async *text(): AsyncGenerator<string> {
    for await (const { entry, isOnLine } of orderedEntries(this.#session)) {
      await this.#take(entry, isOnLine);
      if (this.#out.length > 0) yield this.#drain();
    }
    this.#flush();
    // Claude Code continues from the last line of a file.
    const { id, createdAt, title } = this.#session.record;
    if (!this.#written.isAtTip) {
      const { fields, ...notice } = noticeLine(`${id}#end`, createdAt, "Rewound");
      this.#write({ ...notice, fields: { ...fields, [OWN_FIELD]: { isRewind: true } } }, true);
    }
    if (title !== undefined && !this.#identity.isOwn)
      this.#print({ type: "custom-title", customTitle: title, sessionId: this.#identity.sessionId });
    if (this.#out.length > 0) yield this.#drain();
  }

  async #take(entry: Entry, isOnLine: boolean): Promise<void> {
    switch (entry.kind) {
      case "message":
        this.#flush();
        this.#pending = { entry, isOnLine, lines: await messageLines(entry, this.#session) };
        return;
      case "usage":
        this.#addUsage(entry);
        return;
      case "raw":
        return this.#raw(entry, isOnLine);
      case "overlay":
        this.#flush();
        return this.#overlay(entry, isOnLine);
      case "notice":
        this.#flush();
        this.#write(noticeLine(entry.id, entry.at, entry.text), isOnLine);
        return;
      case "line":
        this.#flush();
        this.#written.goBackTo(entry.ranges.at(-1)?.to ?? 0);
    }
  }

  async #raw(entry: Entry<RawBody>, isOnLine: boolean): Promise<void> {
    if (entry.format !== "claude-code") return;
    const value = objectOf(await this.#session.raw(entry));
    if (!value) return;
    if (typeof value.of === "string") this.#addFields(value);
    else if (value.toolResultFile !== undefined) this.files.push(entry.seq);
    else if (typeof value.type === "string") {
      this.#flush();
      const uuid = textOf(value.uuid);
      if (uuid === undefined) this.#print(value);
      else this.#write(rawLine(uuid, entry.at, value), isOnLine);
    }
  }

  async #overlay(entry: Entry<OverlayBody>, isOnLine: boolean): Promise<void> {
    // Claude Code's own edits are in the lines that it wrote for them.
    if (entry.author === "claude-code" || this.#reverted.has(entry.id)) return;
    const { edit } = entry;
    if (edit.type === "summarize") {
      for (const line of await compactionLines(entry, edit, this.#session, this.#written))
        this.#write(line, isOnLine);
    } else if (edit.type === "replace") {
      const line = await replacementLine(edit, this.#identity.sessionId, this.#session, this.#written);
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
      this.#write({ ...line, fields: this.#completed(line.fields, pending) }, isOnLine);
    const calls = entry.message.parts.map((part) => (part.type === "tool-result" ? part.callId : undefined));
    const id = textOf(objectOf(first.fields.message)?.id);
    this.#written.remember(entry.seq, {
      uuid: first.uuid,
      record: id === undefined ? first.uuid : `msg:${id}`,
      calls,
    });
  }

  /** Adds usage, or the id of the calling line, to the fields of a message's line. */
  #completed(fields: JsonObject, { usage, entry }: Pending): JsonObject {
    const message = objectOf(fields.message) ?? {};
    if (fields.type === "assistant") {
      const report = usageReport(usage);
      const request = usage?.request === undefined ? {} : { requestId: usage.request };
      return { ...fields, message: { ...message, usage: report }, ...request };
    }
    const [result] = entry.message.parts.flatMap((part) =>
      part.type === "tool-result" ? [part.callId] : [],
    );
    const caller = result === undefined ? undefined : this.#written.callerOf(result);
    return caller === undefined ? fields : { sourceToolAssistantUUID: caller, ...fields };
  }

  #write({ uuid, at, parent, fields }: DraftLine, isOnLine: boolean): void {
    if (this.#written.has(uuid)) return;
    const { sessionId, agentId, repeated } = this.#identity;
    const isGiven = parent === null || (typeof parent === "string" && this.#written.has(parent));
    this.#print({
      parentUuid: isGiven ? parent : this.#written.parent(isOnLine),
      isSidechain: agentId !== undefined,
      ...(agentId !== undefined && { agentId }),
      ...repeated,
      sessionId,
      ...fields,
      uuid,
      timestamp: textOf(fields.timestamp) ?? new Date(at).toISOString(),
    });
    this.#written.wrote(uuid, isOnLine);
    for (const block of arrayOf(objectOf(fields.message)?.content)) {
      const { type, id } = objectOf(block) ?? {};
      if (type === "tool_use" && typeof id === "string") this.#written.called(id, uuid);
    }
  }

  #print(line: JsonObject): void {
    this.#out.push(`${JSON.stringify(line)}\n`);
  }

  #drain(): string {
    const text = this.#out.join("");
    this.#out = [];
    return text;
  }
}

function rawLine(uuid: string, at: number, value: JsonObject): DraftLine {
  const { parentUuid, ...fields } = value;
  if (value.subtype === "compact_boundary") return { uuid, at, parent: null, fields };
  return { uuid, at, fields, ...(parentUuid !== undefined && { parent: parentUuid as Json }) };
}

function noticeLine(id: string, at: number, content: string): DraftLine {
  const fields = { type: "system", subtype: "informational", content, level: "info", isMeta: false };
  return { uuid: derivedUuid(id), at, fields };
}
