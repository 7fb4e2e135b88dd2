import type { Message } from "../../kernel/index.ts";
import type { ExportedSession } from "../port/writer.ts";

/** Yields the messages of the active line. */
export async function* readLineMessages(session: Pick<ExportedSession, "entries">): AsyncGenerator<Message> {
  for await (const entry of session.entries("line")) if (entry.kind === "message") yield entry.message;
}
