import type { BodyInput } from "../../kernel/faces/log.ts";
import type { Entry, MessageInput, PartInput } from "../../kernel/index.ts";
import { type Counts, NO_COUNTS } from "./import-report.ts";

/** Mutable counts. */
export type RunningCounts = { -readonly [K in keyof Counts]: number };

/** Adds a body to the counts, or subtracts it. */
export function tallyBody(sum: RunningCounts, body: BodyInput | Entry, sign: 1 | -1 = 1): void {
  switch (body.kind) {
    case "message":
      sum.messages += sign;
      for (const part of body.message.parts ?? []) tallyPart(sum, part, sign);
      break;
    case "usage":
      sum.usage += sign;
      break;
    case "overlay":
      sum.overlays += sign;
      break;
    case "notice":
      sum.notices += sign;
      break;
    case "raw":
      sum.raw += sign;
      break;
    default:
      break;
  }
}

function tallyPart(sum: RunningCounts, part: PartInput, sign: 1 | -1): void {
  if (part.type === "tool-result") {
    sum.toolResults += sign;
    if (typeof part.output !== "string") for (const inner of part.output) tallyPart(sum, inner, sign);
  } else if (part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call"))
    sum.toolCalls += sign;
  else if (isImage(part)) sum.images += sign;
}

function isImage(part: PartInput): boolean {
  // An image with damaged or external bytes was kept as its foreign block.
  if (part.type === "raw")
    return /image/.test(String((part.value as { readonly type?: unknown } | null)?.type));
  if (part.type === "blob") return part.of === undefined && part.mime.startsWith("image/");
  // Data without a label has a recognizable signature: an image or a PDF.
  return part.type === "data" && (part.mime?.startsWith("image/") ?? !isPdf(part.data));
}

function isPdf(data: unknown): boolean {
  return typeof data === "string" && data.startsWith("JVBERi0");
}

/** Tracks tool calls without a result, up to 10,000 at once. */
export class OpenCalls {
  readonly #open = new Set<string>();
  readonly #max = 10_000;

  get count(): number {
    return this.#open.size;
  }

  addMessage(message: MessageInput): void {
    for (const part of message.parts ?? []) {
      if (part.type === "tool-call" && this.#open.size < this.#max) this.#open.add(part.callId);
      else if (part.type === "tool-result") this.#open.delete(part.callId);
    }
  }
}

/** Adds counts to a running sum, or subtracts them. */
export function tallyCounts(sum: RunningCounts, counts: Counts, sign: 1 | -1 = 1): void {
  for (const key of Object.keys(NO_COUNTS) as (keyof Counts)[]) sum[key] += sign * counts[key];
}
