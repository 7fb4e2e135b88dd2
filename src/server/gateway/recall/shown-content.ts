import type { WindowContent } from "../../../kernel/faces/memory.ts";
import { type EntryId, flattenParts, type MessageInput } from "../../../kernel/index.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { getSlotEntry } from "../outgoing/outgoing-pieces.ts";

/** The content of the window that the model sees whole. */
export async function findShownContent(call: ThreadCall): Promise<Required<WindowContent>> {
  const { content, request: callRequest } = call;
  const { fitted } = content;
  const texts = fitted
    ? fitted.messages.flatMap((message) =>
        flattenParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
      )
    : callRequest.messages.list.flatMap((message) => collectTexts(message.input()));
  return { entries: await findShownEntries(call), texts };
}

/** Entries that the model sees whole. A client that trims its history sends only some messages of its conversation. */
export async function findShownEntries({
  content: { fitted },
  thread,
  request: callRequest,
}: ThreadCall): Promise<ReadonlySet<EntryId>> {
  if (!fitted) {
    const sent = new Set(callRequest.messages.list.map(({ key }) => key));
    return new Set(
      (await thread.conversation.readLineInTurn()).messages
        .filter(({ key }) => sent.has(key))
        .map(({ id }) => id),
    );
  }
  const whole = fitted.slots.filter(
    ({ isNote, original, message }) => !isNote && (!original || original === message),
  );
  return new Set(whole.map((slot): EntryId => getSlotEntry(slot, thread.session.id)));
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
