import { randomBytes } from "node:crypto";
import { buildCompactionBlock } from "../../wire/anthropic/compaction-block.ts";
import type { AppliedEdit } from "./applied-edits.ts";
import { COMPACTION_USAGE, encodeBlockEvents } from "./summary-inserter.ts";

/** A reply that contains only a summary. */
interface SummaryReply {
  readonly text: string;
  readonly model: string;
  readonly applied: readonly AppliedEdit[];
}

const STOP_REASON = "compaction";

const USAGE = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};

/** The body of a reply for a client that asked to continue by itself after a compaction. */
export function encodeSummaryReply({ text, model, applied }: SummaryReply): string {
  return JSON.stringify({
    ...buildHead(model),
    content: [buildCompactionBlock(text)],
    stop_reason: STOP_REASON,
    stop_sequence: null,
    usage: { ...USAGE, iterations: [COMPACTION_USAGE] },
    context_management: { applied_edits: applied },
  });
}

/** The same reply as an event stream. */
export function encodeSummaryReplyStream({ text, model, applied }: SummaryReply): string {
  const message = { ...buildHead(model), content: [], stop_reason: null, stop_sequence: null, usage: USAGE };
  const end = {
    type: "message_delta",
    delta: { stop_reason: STOP_REASON, stop_sequence: null },
    usage: { ...USAGE, iterations: [COMPACTION_USAGE] },
    context_management: { applied_edits: applied },
  };
  const events = [{ type: "message_start", message }, end, { type: "message_stop" }] as const;
  const [first = "", ...last] = events.map(
    (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return [first, encodeBlockEvents(buildCompactionBlock(text)), ...last].join("");
}

function buildHead(model: string) {
  return { id: `msg_${randomBytes(12).toString("hex")}`, type: "message", role: "assistant", model };
}
