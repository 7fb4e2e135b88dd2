import type { ExportedSession } from "../writer.ts";
import { sentBlocks, sentElement } from "./sent-message.ts";
import { taskEntries } from "./task-session.ts";

/** Yields the conversation with the model in Cline's format. */
export async function* sentElements(session: ExportedSession): AsyncGenerator<unknown> {
  for await (const item of taskEntries(session, "cline")) {
    if (item.type === "element") yield item.element;
    else if (item.type === "sent") {
      const blocks = await sentBlocks(item.entry, item.fields, session);
      yield sentElement(item.entry, item.fields, blocks);
    }
  }
}
