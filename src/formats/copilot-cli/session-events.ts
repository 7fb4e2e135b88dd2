import { definedFields, numberOf, textOf, timeOf } from "../content/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { toldFields } from "../content/told-fields.ts";
import type { Item } from "../item.ts";
import { type CopilotEvent, rawOf, recordOf } from "./event.ts";
import { usageOfCompaction } from "./usage.ts";

/** Decodes the description of the session. */
export function* sessionItems(event: CopilotEvent): Generator<Item> {
  const { data, child } = event;
  const { small = {}, large } = splitLeftovers(toldFields(data, []));
  const createdAt = timeOf(data.startTime);
  yield { type: "session", ...definedFields({ child, createdAt }), meta: { "copilot-cli": small } };
  if (large) yield rawOf(event, large);
}

/** Decodes a message from Copilot to the user. */
export function* noticeItems(event: CopilotEvent): Generator<Item> {
  const text = textOf(event.data.message);
  if (text === undefined) {
    yield rawOf(event);
    return;
  }
  yield recordOf(event, { kind: "notice", text });
  const rest = toldFields(event.data, ["message"]);
  if (rest) yield rawOf(event, rest, ":extra");
}

/** Decodes a cleared conversation: everything before it leaves the window. */
export function* clearingItems(event: CopilotEvent): Generator<Item> {
  yield recordOf(event, { kind: "overlay", edit: { type: "hide", spans: [{}] }, reason: "cleared" });
  const rest = toldFields(event.data, []);
  if (rest) yield rawOf(event, rest, ":extra");
}

const HELD = ["success", "summaryContent", "preCompactionTokens", "postCompactionTokens"];

/** Decodes a compaction: a summary replaces everything through a record. A failed compaction changes nothing. */
export function* compactionItems(event: CopilotEvent, through: string | undefined): Generator<Item> {
  const { data, at } = event;
  const summary = textOf(data.summaryContent);
  if (data.success === false || summary === undefined) yield rawOf(event);
  else {
    yield recordOf(event, {
      kind: "overlay",
      edit: {
        type: "summarize",
        spans: [definedFields({ through })],
        messages: [{ role: "user", text: summary }],
      },
      reason: "compaction",
      ...definedFields({
        madeAt: at,
        tokensBefore: numberOf(data.preCompactionTokens),
        tokensAfter: numberOf(data.postCompactionTokens),
      }),
    });
    const rest = toldFields(data, HELD);
    if (rest) yield rawOf(event, rest, ":extra");
  }
  const usage = usageOfCompaction(event);
  if (usage) yield usage;
}
