import { randomBytes } from "node:crypto";
import { countClearedContent } from "../../../kernel/faces/window.ts";
import { buildCompactionBlock, type CompactionBlock } from "../../../wire/anthropic/compaction-block.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { type ByteChange, spliceBody } from "../outgoing/outgoing-body.ts";
import { BodyError, type CutBody, cutBody, parseRange } from "../request/cut-body.ts";
import { buildSummaryKey } from "../request/find-compactions.ts";
import { type AppliedEdit, findAppliedEdits } from "./applied-edits.ts";
import { countForLoops } from "./record-reply.ts";

/**
 * Answers a client that wants to inspect a new summary first with only the summary; true if it did. No upstream is
 * called and no reply is stored, because there is none.
 */
export async function answerWithSummary(exchange: Exchange): Promise<boolean> {
  const { incoming, services, trace, request, thread, call } = exchange;
  const { request: callRequest } = call;
  const { fitted, last } = call.content;
  const { fields } = request;
  const { principal, response } = incoming;
  const isPausing = callRequest.edits?.some((edit) => edit.type === "compact_20260112" && edit.pausesAfter);
  const text = isPausing ? findNewSummary(call) : undefined;
  if (text === undefined || last === undefined || !callRequest.edits) return false;
  await services.compactions.store(principal, text, thread, last);
  const applied = findAppliedEdits(callRequest.edits, fitted?.slots ?? []);
  const reply = { text, model: fields.model ?? callRequest.frame.model, applied };
  const body = Buffer.from(fields.isStreamed ? encodeSummaryReplyStream(reply) : encodeSummaryReply(reply));
  trace.status = 200;
  trace.ending = "complete";
  trace.stopReason = "compaction";
  trace.bytesOut = body.length;
  response.writeHead(200, {
    "content-type": fields.isStreamed ? "text/event-stream; charset=utf-8" : "application/json",
    ...(fields.isStreamed && { "cache-control": "no-cache" }),
    "content-length": body.length,
  });
  response.end(body);
  countForLoops(exchange, performance.now());
  return true;
}

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
function encodeSummaryReply({ text, model, applied }: SummaryReply): string {
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
function encodeSummaryReplyStream({ text, model, applied }: SummaryReply): string {
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

/** Inserts a summary at the beginning of a reply; the rest stays as the provider wrote it, byte for byte. */
export interface SummaryInserter {
  /** Returns a stream event or a reply body with the block inserted; undefined if nothing changes. */
  change(data: string): string | undefined;
  /** Events to insert after a stream event. */
  eventsAfter(data: string): string;
}

/** Usage of the compaction itself: zero, because no model was called. */
const COMPACTION_USAGE = {
  type: "compaction",
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
} as const;

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
] as const;

/** Inserts the summary of older messages into a reply for a client of Anthropic's Messages API. */
export function createSummaryInserter(text: string): SummaryInserter {
  const block = buildCompactionBlock(text);
  let isInserted = false;
  let usage: WireObject = {};
  return {
    change(data) {
      const cut = cutOrUndefined(data);
      const type = cut && parseField(cut, "type");
      if (!cut || typeof type !== "string") return undefined;
      if (type === "message_start") usage = toObject(toObject(parseField(cut, "message"))?.usage) ?? {};
      if (type.startsWith("content_block_")) return isInserted ? shiftIndex(cut) : undefined;
      if (type === "message")
        return applyChanges(cut, [...insertBlock(cut, block), ...addUsageSteps(cut, {})]);
      return type === "message_delta" && isInserted
        ? applyChanges(cut, addUsageSteps(cut, usage))
        : undefined;
    },
    eventsAfter(data) {
      const cut = isInserted ? undefined : cutOrUndefined(data);
      if (!cut || parseField(cut, "type") !== "message_start") return "";
      isInserted = true;
      return encodeBlockEvents(block);
    },
  };
}

/** The events of a compaction block at the beginning of a stream. */
function encodeBlockEvents({ type, content }: CompactionBlock): string {
  return [
    { type: "content_block_start", index: 0, content_block: { type, content: null } },
    { type: "content_block_delta", index: 0, delta: { type: "compaction_delta", content } },
    { type: "content_block_stop", index: 0 },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

function cutOrUndefined(data: string): CutBody | undefined {
  try {
    return cutBody(Buffer.from(data), "content");
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

function parseField({ bytes, fields }: CutBody, name: string): unknown {
  const range = fields.get(name);
  return range && parseRange(bytes, range);
}

function applyChanges({ bytes }: CutBody, changes: readonly ByteChange[]): string | undefined {
  return changes.length === 0 ? undefined : Buffer.concat(spliceBody(bytes, changes)).toString("utf8");
}

/** An event of a later block, with its index raised by one. */
function shiftIndex(cut: CutBody): string | undefined {
  const range = cut.fields.get("index");
  const index = parseField(cut, "index");
  if (!range || typeof index !== "number") return undefined;
  return applyChanges(cut, [{ range, bytes: Buffer.from(String(index + 1)) }]);
}

/** Inserts the block before all others of a complete reply. */
function insertBlock({ listFrom, elements }: CutBody, block: CompactionBlock): readonly ByteChange[] {
  if (listFrom === undefined) return [];
  const at = listFrom + 1;
  const text = `${JSON.stringify(block)}${elements.length > 0 ? "," : ""}`;
  return [{ range: { from: at, to: at }, bytes: Buffer.from(text) }];
}

/** Adds the usage of each step: the summary and the reply. */
function addUsageSteps(cut: CutBody, before: WireObject): readonly ByteChange[] {
  const range = cut.fields.get("usage");
  const usage = toObject(parseField(cut, "usage"));
  if (!range || !usage) return [];
  const whole = { ...before, ...usage };
  const own = Object.fromEntries(COUNTS.flatMap((name) => (name in whole ? [[name, whole[name]]] : [])));
  const steps = Array.isArray(usage.iterations) ? toArray(usage.iterations) : [{ type: "message", ...own }];
  const bytes = Buffer.from(JSON.stringify({ ...usage, iterations: [COMPACTION_USAGE, ...steps] }));
  return [{ range, bytes }];
}

/**
 * The summary in the window of a call that its client requested and has not received yet; undefined if there is none.
 */
export function findNewSummary({
  request: callRequest,
  content: { fitted, pieces, violations },
}: ThreadCall): string | undefined {
  const { api, edits = [], isDryRun, compactions } = callRequest;
  const isWanted = api.name === "anthropic" && edits.some(({ type }) => type === "compact_20260112");
  // The edited window was not sent, so it contains no summary.
  if (!isWanted || isDryRun || !fitted || !pieces || violations.length > 0) return undefined;
  const { summary } = countClearedContent(fitted.slots);
  const known = compactions?.last?.text;
  const isKnown =
    summary !== undefined && known !== undefined && buildSummaryKey(known) === buildSummaryKey(summary);
  return isKnown ? undefined : summary;
}
