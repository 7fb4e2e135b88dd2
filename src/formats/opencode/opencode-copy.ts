import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import { readOpencodeDatabase } from "./opencode-database.ts";

/** Yields a conversation of the database as `opencode export` writes it, for `opencode import`. */
export async function* copyOpencodeSession(source: ImportSource, input: Input): AsyncGenerator<string> {
  let before = "";
  for await (const item of readOpencodeDatabase(source, input)) {
    if (item.type === "session") {
      yield `{"info":${JSON.stringify(item.info)},"messages":[`;
      before = "\n";
    } else if (item.type === "message" && before !== "") {
      const { info, parts } = item.message;
      const named = parts.map((part) => ({ ...(part as object), sessionID: source.id, messageID: info.id }));
      yield `${before}${JSON.stringify({ info: { ...info, sessionID: source.id }, parts: named })}`;
      before = ",\n";
    }
  }
  if (before !== "") yield "\n]}\n";
}
