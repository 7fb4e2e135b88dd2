import type {
  EntryBody,
  MessageBody,
  NoticeBody,
  OverlayBody,
  PinBody,
  RawBody,
  UsageBody,
} from "../model/entry.ts";
import { createArgumentError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { MessageInput } from "../model/message.ts";
import type { Edit, EditInput, EditReason, SingleEdit } from "../model/overlay.ts";
import type { PartInput } from "../model/part.ts";
import type { Log } from "./log.ts";
import { preparePlain, type ReadyBody } from "./spilled-parts.ts";

/** A body whose data is not yet stored. */
export type BodyInput =
  | { readonly kind: "message"; readonly message: MessageInput }
  | NoticeBody
  | UsageBody
  | PinBody
  | ({ readonly kind: "overlay"; readonly edit: EditInput } & EditReason)
  | RawInput;

/** A foreign record whose value is not yet stored. */
interface RawInput {
  readonly kind: "raw";
  readonly format: string;
  readonly value: Json;
}

/** Prepares a body: synchronously if nothing has to become a blob, which is the common case. */
export function prepareBody(log: Log, body: BodyInput): ReadyBody | Promise<ReadyBody> {
  switch (body.kind) {
    case "message":
      return preparePlain(body.message, log.limits.spillBytes) ?? log.prepare(body.message);
    case "overlay":
      return prepareOverlay(log, body);
    case "raw":
      return prepareRaw(log, body);
    case "notice":
    case "usage":
    case "pin":
      return { body };
    default:
      throw createArgumentError(
        "body.kind",
        (body as EntryBody).kind,
        "message, notice, usage, overlay, raw or pin",
      );
  }
}

async function prepareOverlay(
  log: Log,
  body: Extract<BodyInput, { kind: "overlay" }>,
): Promise<ReadyBody<OverlayBody>> {
  const inner: ReadyBody<MessageBody>[] = [];
  try {
    const take = async (message: MessageInput) => {
      const ready = await log.prepare(message);
      inner.push(ready);
      return ready.body.message;
    };
    const edit = await absorbEdit(body.edit, take);
    const blobs = [...new Set(inner.flatMap((ready) => ready.blobs ?? []))];
    return { body: { ...body, edit }, ...(blobs.length > 0 && { blobs }), holds: listHolds(inner) };
  } catch (error) {
    await log.releaseHolds(listHolds(inner));
    throw error;
  }
}

type AbsorbMessage = (message: MessageInput) => Promise<MessageBody["message"]>;

async function absorbEdit(edit: EditInput, take: AbsorbMessage): Promise<Edit> {
  if (edit.type === "revert") return edit;
  if (edit.type !== "plan") return absorbSingleEdit(edit, take);
  const edits: SingleEdit[] = [];
  for (const single of edit.edits) edits.push(await absorbSingleEdit(single, take));
  return { ...edit, edits };
}

async function absorbSingleEdit(
  edit: SingleEdit<MessageInput, PartInput>,
  take: AbsorbMessage,
): Promise<SingleEdit> {
  if (edit.type === "replace") {
    const { parts } = await take({ role: "user", parts: edit.parts });
    return { ...edit, parts };
  }
  if (edit.type !== "summarize" || !edit.messages) return edit as SingleEdit;
  const messages: MessageBody["message"][] = [];
  for (const message of edit.messages) messages.push(await take(message));
  return { ...edit, messages };
}

function prepareRaw(log: Log, body: RawInput): ReadyBody<RawBody> | Promise<ReadyBody<RawBody>> {
  const text = JSON.stringify(body.value);
  if (text === undefined) throw createArgumentError("body.value", body.value, "a JSON value");
  return text.length <= log.limits.spillBytes ? { body } : spillRaw(log, body, text);
}

async function spillRaw(log: Log, body: RawInput, text: string): Promise<ReadyBody<RawBody>> {
  const { digest, sizeBytes, mime, hold } = await log.blobs.put(Buffer.from(text), "application/json");
  const { value: _, ...rest } = body;
  return { body: { ...rest, blob: { digest, sizeBytes, mime } }, blobs: [digest], holds: [hold] };
}

function listHolds(ready: readonly ReadyBody[]): readonly string[] {
  return ready.flatMap(({ holds }) => holds ?? []);
}
