import type { SourceMessage } from "../faces/window.ts";
import type { Entry, Kernel, SessionId } from "../index.ts";

/** The newest messages of a session in order, as summaries and questions about work read them. */
export async function readNewestMessages(
  kernel: Pick<Kernel, "session">,
  id: SessionId,
  limit: number,
): Promise<readonly SourceMessage[]> {
  await using session = await kernel.session(id);
  const messages: SourceMessage[] = [];
  for await (const entry of session.entries({ direction: "older", kinds: ["message"] })) {
    if (entry.kind === "message") messages.push(toSource(entry));
    if (messages.length === limit) break;
  }
  return messages.reverse();
}

/** A message with its own time, where an import kept it: the log's times never go back. */
function toSource({ id, seq, at, message }: Extract<Entry, { kind: "message" }>): SourceMessage {
  const own = message.meta?.at;
  return { seq, at: typeof own === "number" ? own : at, message, cite: id };
}
