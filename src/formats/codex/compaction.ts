import { definedFields, textOf } from "../content/fields.ts";
import { toldFields } from "../content/told-fields.ts";
import type { Item } from "../item.ts";
import { type ItemContext, messagesOfHistory } from "./response-items.ts";
import { type RolloutLine, rawOf, recordOf } from "./rollout-line.ts";

/** Decodes a compaction: everything before it leaves the window in favor of the replacement history. */
export function* compactionItems(line: RolloutLine, context: ItemContext): Generator<Item> {
  const { payload, at } = line;
  const hasHistory = Array.isArray(payload.replacement_history);
  const messages = hasHistory
    ? messagesOfHistory(payload.replacement_history, context)
    : [{ role: "user", text: textOf(payload.message) ?? "" } as const];
  yield recordOf(line, {
    kind: "overlay",
    edit: { type: "summarize", spans: [{}], messages },
    reason: "compaction",
    ...definedFields({ madeAt: at }),
  });
  const rest = toldFields(payload, [hasHistory ? "replacement_history" : "message"]);
  if (rest) yield rawOf(line, rest, ":extra");
}

/** Reports a rollout that begins with a compaction. The notice gives the summary something to replace. */
export function* lossItems(line: RolloutLine, path: string): Generator<Item> {
  const reason = "begins with a compaction; the turns before it are gone";
  yield { type: "problem", path, line: line.line, severity: "damaged", reason };
  yield recordOf(line, { kind: "notice", text: `This rollout ${reason}.` }, ":loss");
}
