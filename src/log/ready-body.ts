import type {
  EntryBody,
  MessageBody,
  NoticeBody,
  OverlayBody,
  PinBody,
  RawBody,
  UsageBody,
} from "../model/entry.ts";
import { invalidArgument } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { MessageInput } from "../model/message.ts";
import type { Edit, EditInput, EditReason, SingleEdit } from "../model/overlay.ts";
import type { PartInput } from "../model/part.ts";
import type { Ready } from "./absorb.ts";
import type { Log } from "./log.ts";

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
export function readyBody(log: Log, body: BodyInput): Ready | Promise<Ready> {
  switch (body.kind) {
    case "message":
      return log.readyNow(body.message) ?? log.ready(body.message);
    case "overlay":
      return readyOverlay(log, body);
    case "raw":
      return readyRaw(log, body);
    case "notice":
    case "usage":
    case "pin":
      return { body };
    default:
      throw invalidArgument(
        "body.kind",
        (body as EntryBody).kind,
        "message, notice, usage, overlay, raw or pin",
      );
  }
}

async function readyOverlay(
  log: Log,
  body: Extract<BodyInput, { kind: "overlay" }>,
): Promise<Ready<OverlayBody>> {
  const inner: Ready<MessageBody>[] = [];
  try {
    const take = async (message: MessageInput) => {
      const ready = await log.ready(message);
      inner.push(ready);
      return ready.body.message;
    };
    const edit = await absorbedEdit(body.edit, take);
    const blobs = [...new Set(inner.flatMap((ready) => ready.blobs ?? []))];
    return { body: { ...body, edit }, ...(blobs.length > 0 && { blobs }), holds: holdsOf(inner) };
  } catch (error) {
    await log.giveUp(holdsOf(inner));
    throw error;
  }
}

type Take = (message: MessageInput) => Promise<MessageBody["message"]>;

async function absorbedEdit(edit: EditInput, take: Take): Promise<Edit> {
  if (edit.type === "revert") return edit;
  if (edit.type !== "plan") return absorbedSingle(edit, take);
  const edits: SingleEdit[] = [];
  for (const single of edit.edits) edits.push(await absorbedSingle(single, take));
  return { ...edit, edits };
}

async function absorbedSingle(edit: SingleEdit<MessageInput, PartInput>, take: Take): Promise<SingleEdit> {
  if (edit.type === "replace") {
    const { parts } = await take({ role: "user", parts: edit.parts });
    return { ...edit, parts };
  }
  if (edit.type !== "summarize" || !edit.messages) return edit as SingleEdit;
  const messages: MessageBody["message"][] = [];
  for (const message of edit.messages) messages.push(await take(message));
  return { ...edit, messages };
}

function readyRaw(log: Log, body: RawInput): Ready<RawBody> | Promise<Ready<RawBody>> {
  const text = JSON.stringify(body.value);
  if (text === undefined) throw invalidArgument("body.value", body.value, "a JSON value");
  return text.length <= log.limits.spillBytes ? { body } : spilledRaw(log, body, text);
}

async function spilledRaw(log: Log, body: RawInput, text: string): Promise<Ready<RawBody>> {
  const { digest, sizeBytes, mime, hold } = await log.blobs.put(Buffer.from(text), "application/json");
  const { value: _, ...rest } = body;
  return { body: { ...rest, blob: { digest, sizeBytes, mime } }, blobs: [digest], holds: [hold] };
}

function holdsOf(ready: readonly Ready[]): readonly string[] {
  return ready.flatMap(({ holds }) => holds ?? []);
}
