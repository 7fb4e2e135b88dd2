import { createHash } from "node:crypto";
import type { Entry, Json, MessageBody, SessionRecord } from "../../../index.ts";
import type { Shown } from "../../cline/shown-message.ts";
import { arrayOf, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { ExportedSession } from "../writer.ts";

/** Tools that store tasks in these files. */
export type TaskFormat = "cline" | "roo";

/** An entry classified by its place in the files of a task. */
export type TaskEntry =
  /** A message of the conversation; `fields` are its original fields if it was imported from such a task. */
  | { readonly type: "sent"; readonly entry: Entry<MessageBody>; readonly fields: JsonObject | undefined }
  /** An element of the conversation that is not a message. */
  | { readonly type: "element"; readonly entry: Entry; readonly element: Json }
  /** A shown message of an imported task. */
  | { readonly type: "shown"; readonly entry: Entry; readonly shown: Shown }
  /** Another file of the task. */
  | { readonly type: "file"; readonly entry: Entry; readonly file: JsonObject }
  | { readonly type: "other"; readonly entry: Entry };

/** Classifies the entries of the session's line for a format. */
export async function* taskEntries(session: ExportedSession, format: TaskFormat): AsyncGenerator<TaskEntry> {
  for await (const entry of session.entries("line")) yield await taskEntry(entry, session, format);
}

async function taskEntry(entry: Entry, session: ExportedSession, format: TaskFormat): Promise<TaskEntry> {
  if (entry.kind === "message") {
    const fields = objectOf(entry.message.meta?.[format]);
    return fields?.shown ? shownEntry(entry, fields) : { type: "sent", entry, fields };
  }
  const own = entry.kind === "usage" ? objectOf(entry.meta?.[format]) : undefined;
  if (own?.shown) return shownEntry(entry, own);
  if (entry.kind !== "raw" || entry.format !== format) return { type: "other", entry };
  const value = objectOf(await session.raw(entry));
  if (value?.shown) return shownEntry(entry, value);
  if (value?.element !== undefined) return { type: "element", entry, element: value.element as Json };
  return textOf(value?.file) === undefined
    ? { type: "other", entry }
    : { type: "file", entry, file: value as JsonObject };
}

function shownEntry(entry: Entry, fields: JsonObject): TaskEntry {
  return { type: "shown", entry, shown: fields as unknown as Shown };
}

/** Facts about the task that a session was imported from; undefined for sessions from elsewhere. */
export function taskOrigin(
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
  const source = objectOf(record.meta?.source);
  const id = textOf(source?.id);
  if (source?.format !== format || id === undefined) return undefined;
  const own = objectOf(record.meta?.[format]);
  const files = arrayOf(own?.files);
  return {
    id,
    hasShown: files.includes("shown"),
    isShownAlone: files.includes("shown") && !files.includes("conversation"),
    history: objectOf(record.meta?.[`${format}-history`]) ?? {},
  };
}

/** Makes a task id safe as a folder name on every system. */
export function folderName(id: string): string {
  const safe = id.replace(/[^\w.-]+/g, "_").slice(0, 200);
  return /^\.*$/.test(safe) ? "task" : safe;
}

/** Derives a UUID from a session id. */
export function uuidOf(id: string): string {
  const hex = createHash("sha256").update(id).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
