import type { ExportedSession } from "../../port/writer.ts";
import { encodeSentBlocks, encodeSentElement } from "./sent-message.ts";
import { readTaskFileEntries } from "./task-file-entries.ts";

/** Yields the conversation with the model in Cline's format. */
export async function* encodeSentElements(session: ExportedSession): AsyncGenerator<unknown> {
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type === "element") yield item.element;
    else if (item.type === "sent") {
      const blocks = await encodeSentBlocks(item.entry, item.fields, session);
      yield encodeSentElement(item.entry, item.fields, blocks);
    }
  }
}
