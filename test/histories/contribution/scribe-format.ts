import { join } from "node:path";
import { buildKeptRecord, buildMessageRecords } from "../../../src/histories/agents/foreign-records.ts";
import { createLinesFormat } from "../../../src/histories/agents/lines-format.ts";
import type { Format, FormatName } from "../../../src/histories/port/format.ts";
import type { Json, PartInput } from "../../../src/kernel/index.ts";
import { omitFields, toText, toTime } from "../../../src/wire/fields.ts";

const NAME = "scribe" as FormatName;
const KNOWN = ["id", "time", "kind", "text", "tool", "input", "model"];

/** Scribe: a line for each message, call and result. */
export const scribeFormat: Format = createLinesFormat({
  name: NAME,
  title: "Scribe",
  processes: ["scribe"],
  homes: ({ home, env }) => [join(env.SCRIBE_HOME || join(home, ".scribe"), "talks")],
  recognize(first, file) {
    const begin = first.find(({ kind, scribe }) => kind === "begin" && scribe !== undefined);
    return begin && { id: toText(begin.talk) ?? file.name, cwd: toText(begin.folder) };
  },
  begin: () => null,
  *decode({ record, line }) {
    const place = { id: `L${line}`, at: toTime(record.time) };
    const said = decodePart(record);
    if (!said) {
      yield buildKeptRecord(place, record as Json);
      return;
    }
    const model = toText(record.model);
    yield* buildMessageRecords(NAME, { ...place, ...said, model, rest: omitFields(record, KNOWN) });
  },
});

function decodePart({ kind, id, text, tool, input }: Record<string, unknown>) {
  const callId = toText(id) ?? "";
  const words: PartInput[] = [{ type: "text", text: toText(text) ?? "" }];
  const call = { type: "tool-call", callId, name: toText(tool) ?? "", input: (input ?? {}) as Json } as const;
  if (kind === "ask") return { role: "user", parts: words } as const;
  if (kind === "answer") return { role: "assistant", parts: words } as const;
  if (kind === "call") return { role: "assistant", parts: [call] } as const;
  if (kind !== "result") return undefined;
  return { role: "tool", parts: [{ type: "tool-result", callId, output: toText(text) ?? "" }] } as const;
}
