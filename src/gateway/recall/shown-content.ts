import { type EntryId, flattenParts, type MessageInput } from "../../index.ts";
import type { WindowContent } from "../../memory-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { getSlotEntry } from "../outgoing/plan-outgoing.ts";

/** The content of the window that the model sees whole. */
export async function findShownContent({
  fitted,
  thread,
  request: callRequest,
}: ThreadCall): Promise<Required<WindowContent>> {
  if (!fitted) {
    const line = await thread.line();
    const texts = callRequest.messages.list.flatMap((message) => collectTexts(message.input()));
    return { entries: new Set(line.map(({ id }) => id)), texts };
  }
  const whole = fitted.slots.filter(
    ({ isNote, original, message }) => !isNote && (!original || original === message),
  );
  const entries = whole.map((slot): EntryId => getSlotEntry(slot, thread.session.id));
  const texts = fitted.messages.flatMap((message) =>
    flattenParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return { entries: new Set(entries), texts };
}

/** Entries that the model sees whole. A client that trims its history sends only some messages of its conversation. */
export async function findShownEntries(call: ThreadCall): Promise<ReadonlySet<EntryId>> {
  if (call.fitted) return (await findShownContent(call)).entries;
  const sent = new Set(call.request.messages.list.map(({ key }) => key));
  const line = await call.thread.line();
  return new Set(line.filter(({ key }) => sent.has(key)).map(({ id }) => id));
}

function collectTexts({ text, parts = [] }: MessageInput): readonly string[] {
  return [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => {
      if (part.type === "text") return [part.text];
      if (part.type !== "tool-result") return [];
      return typeof part.output === "string"
        ? [part.output]
        : collectTexts({ role: "tool", parts: part.output });
    }),
  ];
}
