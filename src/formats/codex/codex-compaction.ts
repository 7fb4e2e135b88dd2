import { dropUndefined, toText } from "../../wire/fields.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import type { Item } from "../port/item.ts";
import { decodeHistory, type ItemContext } from "./response-items.ts";
import { buildRawRolloutRecord, buildRolloutRecord, type RolloutLine } from "./rollout-line.ts";

/** Decodes a compaction: everything before it leaves the window in favor of the replacement history. */
export function* decodeCodexCompaction(line: RolloutLine, context: ItemContext): Generator<Item> {
  const { payload, at } = line;
  const hasHistory = Array.isArray(payload.replacement_history);
  const messages = hasHistory
    ? decodeHistory(payload.replacement_history, context)
    : [{ role: "user", text: toText(payload.message) ?? "" } as const];
  yield buildRolloutRecord(line, {
    kind: "overlay",
    edit: { type: "summarize", spans: [{}], messages },
    reason: "compaction",
    ...dropUndefined({ madeAt: at }),
  });
  const rest = nonEmptyFields(payload, [hasHistory ? "replacement_history" : "message"]);
  if (rest) yield buildRawRolloutRecord(line, rest, ":extra");
}

/** Reports a rollout that begins with a compaction. The notice gives the summary something to replace. */
export function* buildLossItems(line: RolloutLine, path: string): Generator<Item> {
  const reason = "begins with a compaction; the turns before it are gone";
  yield { type: "problem", path, line: line.line, severity: "damaged", reason };
  yield buildRolloutRecord(line, { kind: "notice", text: `This rollout ${reason}.` }, ":loss");
}
