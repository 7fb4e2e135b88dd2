import { dropUndefined, toNumber, toText, toTime } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import type { Item } from "../port/item.ts";
import { buildEventRecord, buildRawEventRecord, type CopilotEvent } from "./copilot-event.ts";
import { decodeCompactionUsage } from "./copilot-usage.ts";

/** Decodes the description of the session. */
export function* decodeSessionStart(event: CopilotEvent): Generator<Item> {
  const { data, child } = event;
  const { small = {}, large } = splitLeftovers(nonEmptyFields(data, []));
  const createdAt = toTime(data.startTime);
  yield { type: "session", ...dropUndefined({ child, createdAt }), meta: { "copilot-cli": small } };
  if (large) yield buildRawEventRecord(event, large);
}

/** Decodes a message from Copilot to the user. */
export function* decodeNotice(event: CopilotEvent): Generator<Item> {
  const text = toText(event.data.message);
  if (text === undefined) {
    yield buildRawEventRecord(event);
    return;
  }
  yield buildEventRecord(event, { kind: "notice", text });
  const rest = nonEmptyFields(event.data, ["message"]);
  if (rest) yield buildRawEventRecord(event, rest, ":extra");
}

/** Decodes a cleared conversation: everything before it leaves the window. */
export function* decodeClearing(event: CopilotEvent): Generator<Item> {
  yield buildEventRecord(event, { kind: "overlay", edit: { type: "hide", spans: [{}] }, reason: "cleared" });
  const rest = nonEmptyFields(event.data, []);
  if (rest) yield buildRawEventRecord(event, rest, ":extra");
}

const DECODED_FIELDS = ["success", "summaryContent", "preCompactionTokens", "postCompactionTokens"];

/** Decodes a compaction: a summary replaces everything through a record. A failed compaction changes nothing. */
export function* decodeCopilotCompaction(event: CopilotEvent, through: string | undefined): Generator<Item> {
  const { data, at } = event;
  const summary = toText(data.summaryContent);
  if (data.success === false || summary === undefined) yield buildRawEventRecord(event);
  else {
    yield buildEventRecord(event, {
      kind: "overlay",
      edit: {
        type: "summarize",
        spans: [dropUndefined({ through })],
        messages: [{ role: "user", text: summary }],
      },
      reason: "compaction",
      ...dropUndefined({
        madeAt: at,
        tokensBefore: toNumber(data.preCompactionTokens),
        tokensAfter: toNumber(data.postCompactionTokens),
      }),
    });
    const rest = nonEmptyFields(data, DECODED_FIELDS);
    if (rest) yield buildRawEventRecord(event, rest, ":extra");
  }
  const usage = decodeCompactionUsage(event);
  if (usage) yield usage;
}
