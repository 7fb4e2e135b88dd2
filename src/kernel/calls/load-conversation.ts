import { type RecordedMessage, toConversation } from "../faces/window.ts";
import type { Kernel, Message, Part, Session, SessionId } from "../index.ts";

const PAGE_ENTRIES = 500;

/** Loads the messages on the active line of a session, in the form an API would have received. */
export async function loadConversation(kernel: Kernel, id: SessionId): Promise<readonly RecordedMessage[]> {
  await using session = await kernel.session(id);
  const [line] = await session.lines(1);
  const messages: RecordedMessage[] = [];
  for (const { from, to, session: owner } of line?.ranges ?? []) {
    if (owner === id) await readMessagesInto(messages, kernel, session, from, to);
    else {
      await using other = await kernel.session(owner);
      await readMessagesInto(messages, kernel, other, from, to);
    }
  }
  return [...toConversation(messages)];
}

async function readMessagesInto(
  messages: RecordedMessage[],
  kernel: Kernel,
  session: Session,
  from: number,
  to: number,
): Promise<void> {
  for (let next = from; next <= to; ) {
    const entries = await session.read({ from: next, to, limit: PAGE_ENTRIES, kinds: ["message"] });
    for (const entry of entries) {
      if (entry.kind !== "message") continue;
      const { seq, at } = entry;
      messages.push({ seq, at, message: await restoreMessage(kernel, entry.message) });
    }
    const last = entries.at(-1);
    if (!last) return;
    next = last.seq + 1;
  }
}

/** Restores the parts of a message that are stored as blobs. */
async function restoreMessage(kernel: Kernel, message: Message): Promise<Message> {
  const restore = async <P extends Part>(part: P): Promise<P> =>
    part.type === "blob" && part.of !== undefined ? ((await kernel.blobs.restoreReadable(part)) as P) : part;
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool-result") parts.push(await restore(part));
    else parts.push({ ...part, output: await Promise.all(part.output.map(restore)) });
  }
  return { ...message, parts };
}
