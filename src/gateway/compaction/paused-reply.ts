import { randomBytes } from "node:crypto";
import { compactionBlock } from "../api/anthropic/compaction-block.ts";
import type { AppliedEdit } from "../edits/applied-edits.ts";
import { blockEvents, COMPACTION_USAGE } from "./tell-compaction.ts";

/** A reply that contains only a summary. */
export interface PausedReply {
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
export function pausedBody({ text, model, applied }: PausedReply): string {
  return JSON.stringify({
    ...headOf(model),
    content: [compactionBlock(text)],
    stop_reason: STOP_REASON,
    stop_sequence: null,
    usage: { ...USAGE, iterations: [COMPACTION_USAGE] },
    context_management: { applied_edits: applied },
  });
}

/** The same reply as an event stream. */
export function pausedStream({ text, model, applied }: PausedReply): string {
  const message = { ...headOf(model), content: [], stop_reason: null, stop_sequence: null, usage: USAGE };
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
  return [first, blockEvents(compactionBlock(text)), ...last].join("");
}

function headOf(model: string) {
  return { id: `msg_${randomBytes(12).toString("hex")}`, type: "message", role: "assistant", model };
}
