import { createHash } from "node:crypto";
import type { OverlayBody } from "../../kernel/faces/log.ts";
import type { Entry, Json, Part, SessionRecord } from "../../kernel/index.ts";
import { hasSeq } from "../../model/line.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import { overlaysOf } from "../writing/overlays.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";
import { EDIT_TYPES } from "./context-edits.ts";
import { prepareShownAlone } from "./writing/prepare-shown-alone.ts";
import { encodeSentBlocks, encodeSentElement } from "./writing/sent-message.ts";
import { writeShownMessages } from "./writing/shown-file.ts";
import { findTaskOrigin, readTaskFileEntries, toFolderName } from "./writing/task-file-entries.ts";
import { writeSideFiles } from "./writing/write-side-files.ts";

const FORMAT = "cline";

/**
 * Writes a folder in Cline's format for the task, and one for each sub-agent. A task imported from Cline is written
 * unchanged; for other sessions the shown messages are generated from the conversation. Window edits that Cline cannot
 * represent are left out; the conversation is complete in any case.
 */
export const clineWriter: Writer = {
  name: FORMAT,
  title: "Cline task",
  isFolder: true,
  write: writeTask,
};

/** Cline always sends the first two messages. */
const KEPT_MESSAGES = 2;

async function* writeTask(exported: ExportedSession): AsyncGenerator<OutputPiece> {
  const origin = findTaskOrigin(exported.record, FORMAT);
  const folder = toFolderName(origin?.id ?? createTaskId(exported.record));
  const { session, isShownAlone } = await prepareShownAlone(exported, FORMAT);
  if (!isShownAlone)
    yield* writeJsonArray(`${folder}/api_conversation_history.json`, encodeSentElements(session));
  const shown = addDeletedRange(writeShownMessages(session, FORMAT), await findDeletedRange(session));
  yield* writeJsonArray(`${folder}/ui_messages.json`, shown);
  const context = await buildContextHistory(session);
  if (context) yield { file: `${folder}/context_history.json`, text: `${JSON.stringify(context)}\n` };
  const files = writeSideFiles(session, FORMAT, folder);
  let hasMetadata = origin !== undefined;
  for await (const piece of files) {
    hasMetadata ||= piece.file.endsWith("/task_metadata.json");
    yield piece;
  }
  if (!hasMetadata) yield { file: `${folder}/task_metadata.json`, text: `${JSON.stringify(NO_METADATA)}\n` };
  for await (const child of exported.children()) yield* writeTask(child);
}

const NO_METADATA = { files_in_context: [], model_usage: [], environment_history: [] };

/**
 * Builds a task id. Cline uses the task's first millisecond; three more digits distinguish sessions of the same time.
 */
function createTaskId({ id, createdAt }: SessionRecord): string {
  const digits = createHash("sha256").update(id).digest().readUInt16BE() % 1000;
  return `${createdAt}${String(digits).padStart(3, "0")}`;
}

/** Yields the conversation with the model in Cline's format. */
async function* encodeSentElements(session: ExportedSession): AsyncGenerator<unknown> {
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type === "element") yield item.element;
    else if (item.type === "sent") {
      const blocks = await encodeSentBlocks(item.entry, item.fields, session);
      yield encodeSentElement(item.entry, item.fields, blocks);
    }
  }
}

/**
 * Returns the range after the first two messages that left the window; Cline can represent only one such range, which
 * must begin there.
 */
async function findDeletedRange(session: ExportedSession): Promise<readonly [number, number] | undefined> {
  const ranges = (await overlaysOf(session)).flatMap(({ edit }) => {
    // A summary that is not on the line itself would be missing from the window.
    const isSaid = edit.type === "hide" || (edit.type === "summarize" && edit.entry !== undefined);
    return isSaid ? edit.ranges : [];
  });
  if (ranges.length === 0) return undefined;
  let index = 0;
  let last = KEPT_MESSAGES - 1;
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type !== "sent" && item.type !== "element") continue;
    if (index === last + 1 && hasSeq(ranges, item.entry)) last = index;
    index++;
  }
  return last < KEPT_MESSAGES ? undefined : [KEPT_MESSAGES, last];
}

/** Adds the deleted range to the last message, unless that message already has a longer one. */
async function* addDeletedRange(
  messages: AsyncIterable<Readonly<Record<string, unknown>>>,
  range: readonly [number, number] | undefined,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let held: Readonly<Record<string, unknown>> | undefined;
  for await (const message of messages) {
    if (held) yield held;
    held = message;
  }
  if (!held) return;
  const said = held.conversationHistoryDeletedRange;
  const reach = Array.isArray(said) ? Number(said[1]) : -1;
  yield range && reach < range[1] ? { ...held, conversationHistoryDeletedRange: range } : held;
}

/** A replacement text with its place, kind and time. */
interface ContextUpdate {
  readonly message: number;
  readonly block: number;
  readonly type: number;
  readonly at: number;
  readonly text: string;
}

/**
 * Builds Cline's list of window edits. The list can only represent a text that replaces one block; only these texts are
 * held in memory.
 */
async function buildContextHistory(session: ExportedSession): Promise<Json | undefined> {
  const overlays = (await overlaysOf(session)).filter(({ edit }) => edit.type === "replace");
  if (overlays.length === 0) return undefined;
  const { places, metadata } = await findPlaces(session, overlays);
  const updates: ContextUpdate[] = [];
  for (const overlay of overlays) {
    const place = places.get(overlay.seq);
    const text = await readReplacementText(overlay, session);
    if (place && text !== undefined)
      updates.push({ ...place, type: toEditType(overlay.reason), at: overlay.madeAt ?? overlay.at, text });
  }
  const messages = Map.groupBy(updates, ({ message }) => message);
  return [...messages].sort(compareNumbers).map(([message, ofMessage]) => {
    const blocks = [...Map.groupBy(ofMessage, ({ block }) => block)].sort(compareNumbers);
    return [
      message,
      [
        ofMessage[0]?.type ?? 0,
        blocks.map(([block, ofBlock]) => [
          block,
          ofBlock.map(({ at, text }) => [
            at,
            "text",
            [text],
            metadata.get(`${message}.${block}.${at}`) ?? [],
          ]),
        ]),
      ],
    ];
  });
}

interface EditPlaces {
  /** Message and block that an overlay replaces, by its seq. */
  readonly places: ReadonlyMap<number, { readonly message: number; readonly block: number }>;
  /** Metadata that Cline stored with its own edits. */
  readonly metadata: ReadonlyMap<string, Json>;
}

async function findPlaces(
  session: ExportedSession,
  overlays: readonly Entry<OverlayBody>[],
): Promise<EditPlaces> {
  const places = new Map<number, { message: number; block: number }>();
  const metadata = new Map<string, Json>();
  let message = 0;
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type === "sent") {
      for (const { seq, edit } of overlays) {
        const block = edit.type === "replace" ? findBlock(item.entry, edit.target) : undefined;
        if (block !== undefined) places.set(seq, { message, block });
      }
    } else if (item.entry.kind === "raw" && item.entry.format === "cline") {
      const value = toObject(await session.raw(item.entry));
      const noted = toArray(value?.context);
      if (value?.metadata !== undefined && noted.length === 3)
        metadata.set(noted.join("."), value.metadata as Json);
    }
    if (item.type === "sent" || item.type === "element") message++;
  }
  return { places, metadata };
}

type ReplaceTarget = Extract<OverlayBody["edit"], { type: "replace" }>["target"];

function findBlock(
  { seq, message }: Extract<Entry, { kind: "message" }>,
  target: ReplaceTarget,
): number | undefined {
  if ("seq" in target) {
    if (target.seq !== seq) return undefined;
    return target.part ?? (message.parts.length === 1 ? 0 : undefined);
  }
  const block = message.parts.findIndex(
    (part) => part.type === "tool-result" && part.callId === target.callId,
  );
  return block < 0 ? undefined : block;
}

/** Returns the replacement text; undefined if it is not a single text. */
async function readReplacementText(
  { edit }: Entry<OverlayBody>,
  session: ExportedSession,
): Promise<string | undefined> {
  if (edit.type !== "replace" || edit.parts.length !== 1) return undefined;
  const part = await session.restore(edit.parts[0] as Part);
  if (part.type === "text") return part.text;
  if (part.type !== "tool-result") return undefined;
  const texts: string[] = [];
  for (const piece of part.output) {
    const restored = await session.restore(piece);
    if (restored.type !== "text") return undefined;
    texts.push(restored.text);
  }
  return texts.join("\n");
}

function toEditType(reason: string): number {
  const known = EDIT_TYPES.indexOf(reason);
  return known >= 0 ? known : Number(/^edit type (\d+)$/.exec(reason)?.[1] ?? 0);
}

function compareNumbers([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}
