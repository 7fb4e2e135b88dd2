import type { OverlayBody, SeqRange } from "../../kernel/faces/log.ts";
import { EMPTY_LEDGER, type Totals } from "../../kernel/faces/window.ts";
import {
  type Entry,
  type MessageBody,
  type Part,
  type SessionRecord,
  textOfMessage,
} from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { hasSeq } from "../../model/line.ts";
import { encodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-encode.ts";
import { omitFields, toObject, toText } from "../../wire/fields.ts";
import { prepareShownAlone } from "../cline/writing/prepare-shown-alone.ts";
import { encodeSentBlocks, encodeSentElement } from "../cline/writing/sent-message.ts";
import { writeShownMessages } from "../cline/writing/shown-file.ts";
import {
  deriveTaskUuid,
  findTaskOrigin,
  readTaskFileEntries,
  toFolderName,
} from "../cline/writing/task-file-entries.ts";
import { writeSideFiles } from "../cline/writing/write-side-files.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { overlaysOf } from "../writing/overlays.ts";
import { addUsage } from "../writing/usage-ledger.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";

const FORMAT = "roo";

/**
 * Writes a folder in Roo's format for the task, and one for each sub-agent. A task imported from Roo is written
 * unchanged; for other sessions the shown messages are generated from the conversation. Tags mark messages that left
 * the window; replacements of single parts, which Roo cannot represent, are left out.
 */
export const rooWriter: Writer = {
  name: FORMAT,
  title: "Roo Code task",
  isFolder: true,
  write: writeTask,
};

async function* writeTask(exported: ExportedSession): AsyncGenerator<OutputPiece> {
  const origin = findTaskOrigin(exported.record, FORMAT);
  const folder = toFolderName(getRooTaskId(exported.record));
  const { session, isShownAlone } = await prepareShownAlone(exported, FORMAT);
  if (!isShownAlone)
    yield* writeJsonArray(`${folder}/api_conversation_history.json`, encodeRooElements(session));
  yield* writeJsonArray(`${folder}/ui_messages.json`, writeShownMessages(session, FORMAT));
  const hadItem = Object.keys(origin?.history ?? {}).length > 0;
  if (hadItem || !origin) {
    const item = await buildHistoryItem(session);
    yield { file: `${folder}/history_item.json`, text: `${JSON.stringify(item, null, 2)}\n` };
  }
  yield* writeSideFiles(session, FORMAT, folder);
  for await (const child of exported.children()) yield* writeTask(child);
}

/** Yields the conversation with the model in Roo's format. */
async function* encodeRooElements(session: ExportedSession): AsyncGenerator<unknown> {
  const plan = await TagPlan.of(session);
  for await (const item of readTaskFileEntries(session, "roo")) {
    if (item.type !== "element" && item.type !== "sent") continue;
    yield* plan.takeElementsBefore(item.entry);
    if (item.type === "element") yield item.element;
    else yield { ...(await encodeElement(item.entry, item.fields, session)), ...plan.getTags(item.entry) };
  }
  yield* plan.takeElementsBefore(undefined);
}

async function encodeElement(
  entry: Entry<MessageBody>,
  fields: JsonObject | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const blocks = await encodeSentBlocks(entry, fields, session);
  if (fields?.type === "reasoning") return encodeReasoningItem(entry, fields);
  const element = encodeSentElement(entry, fields, blocks);
  if (!fields) return omitFields(element, ["modelInfo"]) ?? {};
  // Restores the second copy of the reasoning, which the import left out.
  const thinking = blocks.find(({ type }) => type === "reasoning" || type === "thinking");
  return element.reasoning_content === true
    ? { ...element, reasoning_content: thinking?.text ?? thinking?.thinking }
    : element;
}

/** Builds the separate element for a provider's encrypted reasoning. */
function encodeReasoningItem({ message }: Entry<MessageBody>, fields: JsonObject): JsonObject {
  const [part] = message.parts;
  const hasText = !Array.isArray(fields.summary);
  if (part?.type !== "reasoning") return fields;
  return {
    ...fields,
    ...(hasText && { text: part.text }),
    ...(part.opaque !== undefined && { encrypted_content: part.opaque }),
  };
}

/** Returns the Roo task id of a session. */
function getRooTaskId(record: SessionRecord): string {
  return findTaskOrigin(record, "roo")?.id ?? deriveTaskUuid(record.id);
}

/** Builds the session's entry in Roo's task list. */
async function buildHistoryItem(session: ExportedSession): Promise<JsonObject> {
  const { record } = session;
  const origin = findTaskOrigin(record, "roo");
  const id = getRooTaskId(record);
  if (origin && Object.keys(origin.history).length > 0) return { id, ...origin.history };
  const { task, at, usage } = await collectTotals(session);
  return {
    id,
    ...dropUndefined({
      parentTaskId: record.relation === "child" ? getParentTaskId(record.parent) : undefined,
    }),
    number: 1,
    ts: at,
    task: task ?? record.title ?? "",
    tokensIn: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    tokensOut: usage.outputTokens,
    cacheWrites: usage.cacheWriteTokens,
    cacheReads: usage.cacheReadTokens,
    totalCost: usage.cost,
    ...dropUndefined({ workspace: toText(record.meta?.cwd) ?? toText(toObject(record.meta?.source)?.cwd) }),
    mode: "code",
  };
}

function getParentTaskId(parent: string | undefined): string | undefined {
  if (parent === undefined) return undefined;
  return parent.startsWith("roo/") ? parent.slice("roo/".length) : deriveTaskUuid(parent);
}

interface TaskTotals {
  readonly task: string | undefined;
  readonly at: number;
  readonly usage: Totals;
}

/** Collects the first request, the last time and the total usage. */
async function collectTotals(session: ExportedSession): Promise<TaskTotals> {
  let task: string | undefined;
  let at = session.record.createdAt;
  let ledger = EMPTY_LEDGER;
  for await (const entry of session.entries("line")) {
    at = entry.at;
    if (entry.kind === "message" && entry.message.role === "user") task ??= textOfMessage(entry.message);
    if (entry.kind === "usage") ledger = addUsage(ledger, entry);
  }
  return { task, at, usage: ledger.session };
}

/** A window edit as tags: messages in the ranges carry the id of their summary or marker. */
interface Tag {
  readonly type: "condense" | "truncation";
  readonly id: string;
  readonly ranges: readonly SeqRange[];
  /** Seq of the summary or marker on the line. */
  readonly standing?: number;
  /** Element to insert after the messages if the line has no summary or marker. */
  readonly element?: JsonObject;
  hasBegun: boolean;
}

/** Represents window edits as Roo's tags. */
class TagPlan {
  readonly #tags: readonly Tag[];
  #waiting: Tag[];

  private constructor(tags: readonly Tag[]) {
    this.#tags = tags;
    this.#waiting = tags.filter(({ element }) => element);
  }

  static async of(session: ExportedSession): Promise<TagPlan> {
    const tags: Tag[] = [];
    for (const overlay of await overlaysOf(session)) {
      const tag = await buildTag(overlay, session);
      if (tag) tags.push(tag);
    }
    return new TagPlan(tags);
  }

  /** Returns the elements to insert before this message: summaries and markers of finished ranges. */
  takeElementsBefore(entry: Entry | undefined): readonly JsonObject[] {
    const ready = this.#waiting.filter(
      ({ hasBegun, ranges }) => hasBegun && !(entry && hasSeq(ranges, entry)),
    );
    this.#waiting = this.#waiting.filter((tag) => !ready.includes(tag));
    return ready.flatMap(({ element }) => (element ? [element] : []));
  }

  /** Returns the tags of a message. Roo never tags a message twice, so the oldest edit counts. */
  getTags(entry: Entry<MessageBody>): JsonObject {
    const standing = this.#tags.find((tag) => tag.standing === entry.seq && tag.type === "condense");
    const covering = this.#tags.filter((tag) => tag !== standing && hasSeq(tag.ranges, entry));
    for (const tag of covering) tag.hasBegun = true;
    const parent = (type: Tag["type"]) => covering.find((tag) => tag.type === type)?.id;
    const [condenseParent, truncationParent] = [parent("condense"), parent("truncation")];
    return dropUndefined({
      ...(standing && { isSummary: true, condenseId: standing.id }),
      condenseParent,
      truncationParent,
    });
  }
}

async function buildTag(overlay: Entry<OverlayBody>, session: ExportedSession): Promise<Tag | undefined> {
  const { edit, author, reason, seq } = overlay;
  if (edit.type !== "hide" && edit.type !== "summarize") return undefined;
  const { ranges } = edit;
  const type = edit.type === "hide" ? "truncation" : "condense";
  const own = author === "roo" ? /^(?:condense|truncation):(.+)$/s.exec(reason)?.[1] : undefined;
  const base = { type, id: own ?? `longhaul-${seq}`, ranges, hasBegun: false } as const;
  // Roo's own marker is a message on the line that already carries its id.
  if (own !== undefined && type === "truncation") return base;
  if (edit.type === "summarize" && edit.entry !== undefined) {
    const isNamed = own === undefined || (await findCondenseId(session, edit.entry)) === own;
    // Old summaries have no id and no tags; `isSummary` suffices.
    return isNamed ? { ...base, standing: edit.entry } : undefined;
  }
  const ts = overlay.madeAt ?? overlay.at;
  if (edit.type === "hide") {
    const content = "[Sliding window truncation: messages hidden to reduce context]";
    const marker = { role: "user", content, ts, isTruncationMarker: true, truncationId: base.id };
    return { ...base, element: marker };
  }
  const parts = edit.messages?.flatMap((message): readonly Part[] => message.parts) ?? [];
  const content = await encodeAnthropicBlocks(parts, session);
  return { ...base, element: { role: "user", content, ts, isSummary: true, condenseId: base.id } };
}

async function findCondenseId(session: ExportedSession, seq: number): Promise<string | undefined> {
  for await (const entry of session.entries("line"))
    if (entry.seq === seq && entry.kind === "message")
      return toText(toObject(entry.message.meta?.roo)?.condenseId);
  return undefined;
}
