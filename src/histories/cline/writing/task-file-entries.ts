import type { Entry, Json, MessageBody, SessionRecord } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { toArray, toObject, toText } from "../../../wire/fields.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { ShownMessage } from "../shown-message.ts";

/** Tools that store tasks in these files. */
export type TaskFormat = "cline" | "roo";

/** An entry classified by its place in the files of a task. */
export type TaskFileEntry =
  /** A message of the conversation; `fields` are its original fields if it was imported from such a task. */
  | { readonly type: "sent"; readonly entry: Entry<MessageBody>; readonly fields: JsonObject | undefined }
  /** An element of the conversation that is not a message. */
  | { readonly type: "element"; readonly entry: Entry; readonly element: Json }
  /** A shown message of an imported task. */
  | { readonly type: "shown"; readonly entry: Entry; readonly shown: ShownMessage }
  /** Another file of the task. */
  | { readonly type: "file"; readonly entry: Entry; readonly file: JsonObject }
  | { readonly type: "other"; readonly entry: Entry };

/** Classifies the entries of the session's line for a format. */
export async function* readTaskFileEntries(
  session: ExportedSession,
  format: TaskFormat,
): AsyncGenerator<TaskFileEntry> {
  for await (const entry of session.entries("line")) yield await classifyEntry(entry, session, format);
}

async function classifyEntry(
  entry: Entry,
  session: ExportedSession,
  format: TaskFormat,
): Promise<TaskFileEntry> {
  if (entry.kind === "message") {
    const fields = toObject(entry.message.meta?.[format]);
    return fields?.shown ? buildShownEntry(entry, fields) : { type: "sent", entry, fields };
  }
  const own = entry.kind === "usage" ? toObject(entry.meta?.[format]) : undefined;
  if (own?.shown) return buildShownEntry(entry, own);
  if (entry.kind !== "raw" || entry.format !== format) return { type: "other", entry };
  const value = toObject(await session.raw(entry));
  if (value?.shown) return buildShownEntry(entry, value);
  if (value?.element !== undefined) return { type: "element", entry, element: value.element as Json };
  return toText(value?.file) === undefined
    ? { type: "other", entry }
    : { type: "file", entry, file: value as JsonObject };
}

function buildShownEntry(entry: Entry, fields: JsonObject): TaskFileEntry {
  return { type: "shown", entry, shown: fields as unknown as ShownMessage };
}

/** Facts about the task that a session was imported from; undefined for sessions from elsewhere. */
export function findTaskOrigin(
  record: SessionRecord,
  format: TaskFormat,
):
  | {
      readonly id: string;
      readonly hasShown: boolean;
      readonly isShownAlone: boolean;
      readonly history: JsonObject;
    }
  | undefined {
  const source = toObject(record.meta?.source);
  const id = toText(source?.id);
  if (source?.format !== format || id === undefined) return undefined;
  const own = toObject(record.meta?.[format]);
  const files = toArray(own?.files);
  return {
    id,
    hasShown: files.includes("shown"),
    isShownAlone: files.includes("shown") && !files.includes("conversation"),
    history: toObject(record.meta?.[`${format}-history`]) ?? {},
  };
}

/** Makes a task id safe as a folder name on every system. */
export function toFolderName(id: string): string {
  const safe = id.replace(/[^\w.-]+/g, "_").slice(0, 200);
  return /^\.*$/.test(safe) ? "task" : safe;
}

/** Derives a UUID from a session id. */
export function deriveTaskUuid(id: string): string {
  const hex = computeDigest(id);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
