import type { BodyInput, Intake, IntakeItem, NewRecord, TakenRecord } from "../../kernel/faces/log.ts";
import type { EditInput } from "../../kernel/faces/window.ts";
import {
  type Entry,
  isLonghaulError,
  type Json,
  LonghaulError,
  type PartInput,
  type Session,
  type SessionId,
} from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ForeignEdit, ProblemItem, RecordBody, RecordItem, Span } from "../reading/item.ts";
import { NO_COUNTS } from "./import-report.ts";
import { Lineage, parseSignature } from "./lineage.ts";
import { RecordComparison } from "./record-comparison.ts";
import type { SessionImportItem } from "./session-import-item.ts";
import { type RunningCounts, tallyBody, tallyCounts } from "./tally.ts";

/** The file that is read, and callbacks. */
interface SessionImportDeps {
  readonly path: string;
  /** The file that the session was last imported from, if that is another one. */
  readonly otherPath?: string;
  readonly onProblem: (reason: string, severity: ProblemItem["severity"]) => void;
  readonly onCopied: (bytes: number) => void;
}

/** State that a target stores with its intake. */
interface SessionImportProgress {
  readonly lineage: Json;
  /** Signature of the lineage when the line was last set. */
  readonly chosen: string;
}

const MAX_TRIES = 100;

/** One session that receives records: finds the new ones, assigns seqs, and keeps the line equal to the source's. */
export class SessionImport {
  readonly session: Session;
  readonly found: RunningCounts = { ...NO_COUNTS };
  readonly added: RunningCounts = { ...NO_COUNTS };
  readonly #intake: Intake;
  readonly #author: string;
  readonly #report: SessionImportDeps;
  /** Head at the start of this import: known records above it come from this read. */
  readonly #headAtStart: number;
  readonly #createdAt: number;
  #head: { readonly seq: number; readonly at: number };
  #lineage: Lineage;
  #chosen: string;
  /** Compares the records of another file with the same id. */
  readonly #comparison: RecordComparison | undefined;

  private constructor(parts: {
    session: Session;
    intake: Intake;
    author: string;
    report: SessionImportDeps;
    head: { seq: number; at: number };
    createdAt: number;
  }) {
    this.session = parts.session;
    this.#intake = parts.intake;
    this.#author = parts.author;
    this.#report = parts.report;
    this.#head = parts.head;
    this.#headAtStart = parts.head.seq;
    this.#createdAt = parts.createdAt;
    this.#comparison = parts.report.otherPath === undefined ? undefined : new RecordComparison();
    const progress = parts.intake.progress as SessionImportProgress | undefined;
    this.#lineage = new Lineage(progress?.lineage);
    this.#chosen = progress?.chosen ?? "";
  }

  static async open(
    session: Session,
    name: string,
    author: string,
    report: SessionImportDeps,
  ): Promise<SessionImport> {
    const intake = await session.intake(name);
    const { createdAt } = await session.record();
    return new SessionImport({ session, intake, author, report, head: await session.head(), createdAt });
  }

  /** The format's state at its last checkpoint. */
  get state(): Json | undefined {
    return this.#intake.checkpoint;
  }

  /** Appends the new items, together with the format's state if given. */
  async appendItems(items: readonly SessionImportItem[], state?: Json): Promise<void> {
    let offered = items;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#tryAppend(offered, state);
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        if (isLonghaulError(error, "ENTRY_TOO_LARGE")) {
          const smaller = offered.map((item) => this.#shrinkToEntry(item, error.details.maxBytes as number));
          if (smaller.every((item, index) => item === offered[index])) throw error;
          offered = smaller;
        } else if (isLonghaulError(error, "INTAKE_CONFLICT") || isLonghaulError(error, "POSITION_CONFLICT")) {
          await this.#reload();
        } else throw error;
      }
    }
  }

  /** Sets the session's line to the source's if it has changed since the last import. */
  async chooseLine(): Promise<void> {
    const signature = this.#lineage.signature();
    if (signature === this.#chosen) return;
    const stretches = this.#lineage.getRanges() ?? [[1, this.#head.seq] as const];
    const toRanges = (line: typeof stretches) =>
      line.map(([from, to]) => ({ session: this.session.id, from, to }));
    try {
      // Use the time of the preceding entry: later records are older than now.
      const at = this.#head.at;
      const former = parseSignature(this.#chosen, this.#head.seq);
      const instead = { line: toRanges(former), author: this.#author };
      const { seq } = await this.session.setLine(toRanges(stretches), `as in ${this.#author}`, {
        at,
        instead,
      });
      this.#head = { seq, at };
    } catch (error) {
      if (!isLonghaulError(error, "LINE_LIMIT")) throw error;
      this.#report.onProblem(
        "the line has too many pieces to be kept; the session shows all branches",
        "damaged",
      );
    }
    this.#chosen = signature;
    await this.#intake.save({ progress: this.#buildProgress(this.#lineage) });
  }

  /** Reloads state after somebody else appended or imported. */
  async #reload(): Promise<void> {
    await this.#intake.refresh();
    this.#head = await this.session.head();
    const progress = this.#intake.progress as SessionImportProgress | undefined;
    this.#lineage = new Lineage(progress?.lineage);
  }

  /** Turns a record that is too large for an entry into a raw one, which can be stored as a blob. */
  #shrinkToEntry(item: SessionImportItem, maxBytes: number): SessionImportItem {
    if (item.type !== "record" || item.body.kind === "raw") return item;
    const text = JSON.stringify(item.body);
    if (text.length <= maxBytes / 2) return item;
    this.#report.onProblem(`record ${item.id} is too large for an entry; kept as raw`, "damaged");
    return { ...item, body: { kind: "raw", value: JSON.parse(text) as Json } };
  }

  async #tryAppend(items: readonly SessionImportItem[], state: Json | undefined): Promise<void> {
    const plan = new AppendPlan(
      await this.#intake.find(collectRecordIds(items)),
      this.#head.seq,
      this.#findStartTime(items),
    );
    const lineage = new Lineage(this.#lineage.toJSON());
    for (const item of items) await this.#placeItem(item, plan, lineage);
    this.#refuseOther();
    const saved = dropUndefined({
      progress: this.#buildProgress(lineage),
      checkpoint: state,
    });
    if (plan.items.length > 0) {
      await this.#intake.append(plan.items, { ...saved, expectedHead: this.#head.seq });
      this.#head = { seq: this.#head.seq + plan.items.length, at: Math.max(this.#head.at, plan.lastAt) };
    } else if (state !== undefined) await this.#intake.save(saved);
    this.#lineage = lineage;
    tallyCounts(this.found, plan.found);
    tallyCounts(this.added, plan.added);
    for (const { reason, severity } of plan.problems) this.#report.onProblem(reason, severity);
    if (plan.copiedBytes > 0) this.#report.onCopied(plan.copiedBytes);
  }

  async #placeItem(item: SessionImportItem, plan: AppendPlan, lineage: Lineage): Promise<void> {
    if (item.type === "rewind") {
      const to = item.to === null ? 0 : plan.findSeq(item.to);
      if (to === undefined)
        plan.problems.push({
          reason: `goes back to ${item.to}, which is not in the source`,
          severity: "damaged",
        });
      else lineage.rewind(to);
      return;
    }
    if (item.type === "line") {
      lineage.set(item.records.flatMap((record) => plan.findSeq(record) ?? []));
      return;
    }
    const known = plan.findRecord(item.id);
    if (known && known.seq <= this.#headAtStart) await this.#compare(item, known);
    if (!known) return this.#addNew(item, { id: item.id }, plan, lineage);
    if (item.version !== undefined && item.version !== known.version)
      return this.#addNewer(item, known, plan, lineage);
    if (known.seq > this.#headAtStart && item.version === undefined)
      return this.#addDuplicate(item, known, plan, lineage);
    lineage.touch(known.seq);
    // A record of this read was counted already.
    if (known.seq <= this.#headAtStart) tallyBody(plan.found, item.body as BodyInput);
  }

  /** Compares a record with the one that the session has under its id, if another file brought that one. */
  async #compare({ body }: RecordItem, { seq }: TakenRecord): Promise<void> {
    if (!this.#comparison || body.kind !== "message") return;
    const known = await this.session.entry(seq);
    if (known) this.#comparison.add(known, body);
  }

  /** Throws SOURCE_CONFLICT if the file holds another conversation than the one that the session was imported from. */
  #refuseOther(): void {
    if (!this.#comparison?.areOthers) return;
    const { path, otherPath = "" } = this.#report;
    const { id } = this.session;
    throw new LonghaulError(
      "SOURCE_CONFLICT",
      `${path} and ${otherPath} hold two conversations with the same id, which is that of session ${JSON.stringify(id)}. Only the second one is stored; give the first one another id, or delete the session to import it instead.`,
      { details: { path, otherPath, session: id } },
    );
  }

  async #addNew(item: RecordItem, record: NewRecord, plan: AppendPlan, lineage: Lineage): Promise<void> {
    const body = this.#resolveBody(item, plan, lineage);
    const parent = this.#findParent(item, plan);
    lineage.add(plan.add(this.#buildIntakeItem(item, body, record, plan)), parent);
    tallyBody(plan.found, body);
    tallyBody(plan.added, body);
  }

  /** Appends another version of a known record and puts it in the old one's place on the line. */
  async #addNewer(item: RecordItem, known: TakenRecord, plan: AppendPlan, lineage: Lineage): Promise<void> {
    const body = this.#resolveBody(item, plan, lineage);
    const before = plan.getBody(known.seq) ?? (await this.session.entry(known.seq));
    // An erased record stays erased, however its agent rewrites it.
    if (before && "id" in before && before.kind === "redacted") {
      tallyBody(plan.found, body);
      return lineage.touch(known.seq);
    }
    const seq = plan.add(this.#buildIntakeItem(item, body, { id: item.id, replaces: true }, plan));
    lineage.replace(known.seq, seq);
    tallyBody(plan.found, body);
    tallyBody(plan.added, body);
    if (!before) return;
    tallyBody(plan.added, before, -1);
    if (known.seq > this.#headAtStart) tallyBody(plan.found, before, -1);
  }

  /** Handles a repeated id within one read: a copy if the content is the same, else a record under another id. */
  async #addDuplicate(
    item: RecordItem,
    known: TakenRecord,
    plan: AppendPlan,
    lineage: Lineage,
  ): Promise<void> {
    const first = plan.getBody(known.seq) ?? (await this.session.entry(known.seq));
    if (first && isSameRecord(first, this.#resolveBody(item, plan, lineage))) {
      lineage.touch(known.seq);
      plan.copiedBytes += Buffer.byteLength(JSON.stringify(item.body));
      return;
    }
    const id = await this.#findFreeId(item.id, plan);
    const reason = `the id ${item.id} was used before for another record; kept as ${id}`;
    plan.problems.push({ reason, severity: "damaged" });
    await this.#addNew(item, { id }, plan, lineage);
  }

  async #findFreeId(id: string, plan: AppendPlan): Promise<string> {
    for (let count = 2; ; count++) {
      const candidate = `${id}~${count}`;
      if (!plan.findRecord(candidate) && !(await this.#intake.find([candidate])).has(candidate))
        return candidate;
    }
  }

  #resolveBody(item: RecordItem, plan: AppendPlan, lineage: Lineage): BodyInput {
    const resolution = {
      session: this.session.id,
      author: this.#author,
      seqOf: (record: string) => plan.findSeq(record),
      between: (from: number, to?: number) => lineage.getRangesBetween(from, to),
    };
    const body = resolveBody(item.body, resolution);
    if (body) return body;
    // An edit with a missing target has no effect, but is kept.
    return { kind: "raw", format: this.#author, value: item.body as unknown as Json };
  }

  #findParent(item: RecordItem, plan: AppendPlan): number | undefined {
    if (item.parent === undefined) return undefined;
    if (item.parent === null) return 0;
    const parent = plan.findSeq(item.parent);
    if (parent === undefined)
      plan.problems.push({
        reason: `record ${item.id} follows ${item.parent}, which is not before it`,
        severity: "damaged",
      });
    return parent;
  }

  #buildIntakeItem(item: RecordItem, body: BodyInput, record: NewRecord, plan: AppendPlan): IntakeItem {
    const floor = Math.max(this.#head.at, plan.lastAt);
    const at = item.at ?? floor;
    const versioned = item.version === undefined ? record : { ...record, version: item.version };
    // Times in the log never decrease; an earlier time of the source is kept in the body.
    const kept = item.at !== undefined && item.at < floor ? addTime(body, item.at) : body;
    return { record: versioned, body: kept, at };
  }

  /** Returns the time for leading records without one: that of the first record with a time, or of the conversation. */
  #findStartTime(items: readonly SessionImportItem[]): number {
    if (this.#head.seq > 0) return this.#head.at;
    const timed = items.find((item) => item.type === "record" && item.at !== undefined) as
      | RecordItem
      | undefined;
    return timed?.at ?? this.#createdAt;
  }

  #buildProgress(lineage: Lineage): Json {
    return { lineage: lineage.toJSON(), chosen: this.#chosen };
  }
}

function addTime(body: BodyInput, at: number): BodyInput {
  if (body.kind === "message")
    return { ...body, message: { ...body.message, meta: { ...body.message.meta, at } } };
  if (body.kind === "usage") return { ...body, meta: { ...body.meta, at } };
  if (body.kind === "overlay") return { madeAt: at, ...body };
  return body;
}

/** Collects all record ids that items mention. */
function collectRecordIds(items: readonly SessionImportItem[]): readonly string[] {
  const ids = new Set<string>();
  for (const item of items) {
    if (item.type === "rewind") {
      if (item.to !== null) ids.add(item.to);
    } else if (item.type === "line") {
      for (const record of item.records) ids.add(record);
    } else {
      ids.add(item.id);
      if (typeof item.parent === "string") ids.add(item.parent);
      if (item.body.kind === "overlay") for (const id of collectEditRecordIds(item.body.edit)) ids.add(id);
    }
  }
  return [...ids];
}

function collectEditRecordIds(edit: ForeignEdit): readonly string[] {
  if (edit.type === "replace") return "record" in edit.target ? [edit.target.record] : [];
  const spans = edit.spans.flatMap(({ from, through }) => [from, through]);
  const record = edit.type === "summarize" ? [edit.record] : [];
  return [...spans, ...record].filter((id) => id !== undefined);
}

/** An append in preparation, which assigns seqs to new records. */
class AppendPlan {
  readonly items: IntakeItem[] = [];
  readonly found: RunningCounts = { ...NO_COUNTS };
  readonly added: RunningCounts = { ...NO_COUNTS };
  /** Problems to report after the append has succeeded; after a conflict the plan is rebuilt. */
  readonly problems: Pick<ProblemItem, "reason" | "severity">[] = [];
  copiedBytes = 0;
  lastAt: number;
  readonly #known: ReadonlyMap<string, TakenRecord>;
  readonly #planned = new Map<string, TakenRecord>();
  readonly #firstSeq: number;

  constructor(known: ReadonlyMap<string, TakenRecord>, head: number, lastAt: number) {
    this.#known = known;
    this.lastAt = lastAt;
    this.#firstSeq = head + 1;
  }

  findRecord(record: string): TakenRecord | undefined {
    return this.#planned.get(record) ?? this.#known.get(record);
  }

  findSeq(record: string): number | undefined {
    return this.findRecord(record)?.seq;
  }

  getBody(seq: number): BodyInput | undefined {
    return this.items[seq - this.#firstSeq]?.body;
  }

  add(item: IntakeItem): number {
    const seq = this.#firstSeq + this.items.length;
    // A record that occurs twice in one append replaces its own first row.
    const isAgain = item.record && this.#planned.has(item.record.id);
    this.items.push(isAgain && item.record ? { ...item, record: { ...item.record, replaces: true } } : item);
    this.lastAt = Math.max(this.lastAt, item.at ?? 0);
    if (item.record) {
      const { id, version } = item.record;
      this.#planned.set(id, version === undefined ? { seq } : { seq, version });
    }
    return seq;
  }
}

/**
 * Tells whether two records with the same id have the same content, so the second is a copy. Either may come from the
 * log, where large parts and data are blobs; these are compared by digest.
 */
function isSameRecord(one: BodyInput | Entry, other: BodyInput | Entry): boolean {
  return one.kind === other.kind && serializeContent(one) === serializeContent(other);
}

function serializeContent(body: BodyInput | Entry): string {
  switch (body.kind) {
    case "message": {
      const { role, text, model } = body.message as { role: string; text?: string; model?: string };
      const parts: readonly PartInput[] =
        text === undefined ? (body.message.parts ?? []) : [{ type: "text", text }];
      return JSON.stringify([role, model, parts.map(serializePart)]);
    }
    case "raw":
      return "blob" in body && body.blob ? body.blob.digest : computeDigest(JSON.stringify(body.value));
    case "usage":
      return JSON.stringify([body.usage, body.model, body.provider, body.request]);
    case "notice":
      return body.text;
    case "overlay": {
      // Ranges depend on the line at that moment; the replacement does not.
      const { edit } = body;
      const shown = edit.type === "replace" ? edit.parts.map(serializePart) : [];
      return JSON.stringify([body.reason, edit.type, "target" in edit ? edit.target : null, shown]);
    }
    default:
      return JSON.stringify(body);
  }
}

function serializePart(part: PartInput): Json {
  switch (part.type) {
    case "text":
      return computeDigest(part.text);
    case "blob":
      return part.digest;
    case "data":
      return typeof part.data === "string" ? computeDigest(Buffer.from(part.data, "base64")) : "a stream";
    case "tool-result": {
      const output =
        typeof part.output === "string" ? [{ type: "text" as const, text: part.output }] : part.output;
      return [part.callId, part.isError ?? false, output.map(serializePart)];
    }
    default:
      return computeDigest(JSON.stringify(part));
  }
}

/** Session state for resolving record ids. */
interface RecordResolution {
  readonly session: SessionId;
  readonly author: string;
  /** Returns the seq at which a record was or will be appended. */
  readonly seqOf: (record: string) => number | undefined;
  /** Returns the stretches of the line from one entry through another, or through the last one. */
  readonly between: (from: number, to?: number) => readonly (readonly [from: number, to: number])[];
}

/** Replaces the record ids in a body with seqs; undefined if a record is missing. */
function resolveBody(body: RecordBody, resolution: RecordResolution): BodyInput | undefined {
  if (body.kind === "raw") return { kind: "raw", format: resolution.author, value: body.value };
  if (body.kind !== "overlay") return body;
  const edit = resolveEdit(body.edit, resolution);
  return edit && { ...body, author: resolution.author, edit };
}

function resolveEdit(edit: ForeignEdit, resolution: RecordResolution): EditInput | undefined {
  if (edit.type === "replace") {
    if ("callId" in edit.target) return { ...edit, target: edit.target };
    const seq = resolution.seqOf(edit.target.record);
    if (seq === undefined) return undefined;
    const { part } = edit.target;
    return { ...edit, target: part === undefined ? { seq } : { seq, part } };
  }
  const ranges = edit.spans.flatMap((span) => resolveSpan(span, resolution));
  if (ranges.length === 0) return undefined;
  if (edit.type === "hide") return { type: "hide", ranges };
  const entry = edit.record === undefined ? undefined : resolution.seqOf(edit.record);
  return dropUndefined({
    type: "summarize",
    ranges,
    messages: edit.messages || undefined,
    entry,
  });
}

function resolveSpan(span: Span, { session, seqOf, between }: RecordResolution) {
  const from = span.from === undefined ? 1 : seqOf(span.from);
  const to = span.through === undefined ? undefined : seqOf(span.through);
  if (from === undefined || (span.through !== undefined && to === undefined)) return [];
  return between(from, to).map(([first, last]) => ({ session, from: first, to: last }));
}
