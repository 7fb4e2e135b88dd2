import { computeFingerprint } from "../../base/digest.ts";
import type { Json } from "../../index.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { addFacts, NO_FACTS } from "../content/session-facts.ts";
import type { Item } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import { buildChatSessionItem } from "./chat-decoder.ts";
import { buildChatRecords } from "./message-records.ts";

/** Reads a chat of older versions, which rewrote one JSON file with every message. */
export async function* readChatFile(path: string, input: Input): AsyncGenerator<Item> {
  let facts = NO_FACTS;
  let told = NO_FACTS;
  let last: string | null = null;
  let count = 0;
  for await (const { field, index, line, value, problem, isCut } of input.jsonElements(path, ["messages"])) {
    if (problem !== undefined && !(isCut && input.isLive))
      yield {
        type: "problem",
        path,
        line,
        severity: value === undefined ? "lost" : "damaged",
        reason: problem,
      };
    if (value === undefined) continue;
    if (index === undefined) {
      const added = addFacts(facts, { [field]: value });
      facts = added.facts;
      if (added.large) yield buildRawRecord(field, added.large);
      continue;
    }
    count++;
    if (facts !== told) {
      told = facts;
      yield buildChatSessionItem(facts);
    }
    const message = toObject(value);
    if (!message) {
      yield buildRawRecord(`#${index}`, value as Json);
      continue;
    }
    // Each record follows the previous one in the file, so deleted messages drop off the line.
    for (const record of buildChatRecords(message, toText(message.id) ?? `#${index}`)) {
      yield { ...record, parent: last };
      last = record.id;
    }
  }
  if (facts !== told) yield buildChatSessionItem(facts);
  const before = toObject(input.resume)?.messages;
  if (typeof before === "number" && count < before) yield { type: "rewind", to: last };
  yield { type: "checkpoint", state: { messages: count } };
}

function buildRawRecord(id: string, value: Json): Item {
  return {
    type: "record",
    id,
    version: computeFingerprint(JSON.stringify(value)),
    body: { kind: "raw", value },
  };
}
