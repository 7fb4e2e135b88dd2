import type { BodyInput, Entry, MessageInput, PartInput } from "../../index.ts";
import { type Counts, NO_COUNTS } from "./report.ts";

/** What a body on its way in counts as. */
export function countsOf(body: BodyInput): Counts {
  switch (body.kind) {
    case "message":
      return { ...NO_COUNTS, messages: 1, ...partCounts(body.message.parts ?? []) };
    case "usage":
      return { ...NO_COUNTS, usage: 1 };
    case "overlay":
      return { ...NO_COUNTS, overlays: 1 };
    case "notice":
      return { ...NO_COUNTS, notices: 1 };
    case "raw":
      return { ...NO_COUNTS, raw: 1 };
  }
}

/** What an entry of the log counts as. */
export function countsOfEntry(entry: Entry): Counts {
  if (entry.kind === "line" || entry.kind === "redacted") return NO_COUNTS;
  return countsOf(entry as BodyInput);
}

function partCounts(parts: readonly PartInput[]): Pick<Counts, "toolCalls" | "toolResults" | "images"> {
  let toolCalls = 0;
  let toolResults = 0;
  let images = 0;
  for (const part of parts) {
    if (part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call")) toolCalls++;
    else if (part.type === "tool-result") {
      toolResults++;
      if (typeof part.output !== "string") images += part.output.filter(isImage).length;
    } else if (isImage(part)) images++;
  }
  return { toolCalls, toolResults, images };
}

function isImage(part: PartInput): boolean {
  // A picture whose bytes are damaged or lie elsewhere was kept as the foreign block it is.
  if (part.type === "raw")
    return /image/.test(String((part.value as { readonly type?: unknown } | null)?.type));
  if (part.type === "blob") return part.of === undefined && part.mime.startsWith("image/");
  // Without a label the bytes have shown what they are; only images and PDFs come so, and PDFs are rare enough to look.
  return part.type === "data" && (part.mime?.startsWith("image/") ?? !isPdf(part.data));
}

function isPdf(data: unknown): boolean {
  return typeof data === "string" && data.startsWith("JVBERi0");
}

/** Follows which tool calls got no answer, for up to a bound of calls at once. */
export class OpenCalls {
  readonly #open = new Set<string>();
  readonly #max = 10_000;

  get count(): number {
    return this.#open.size;
  }

  see(message: MessageInput): void {
    for (const part of message.parts ?? []) {
      if (part.type === "tool-call" && this.#open.size < this.#max) this.#open.add(part.callId);
      else if (part.type === "tool-result") this.#open.delete(part.callId);
    }
  }
}

/** Adds counts to a running sum, in place. */
export function tallyInto(
  sum: { -readonly [K in keyof Counts]: number },
  counts: Counts,
  sign: 1 | -1 = 1,
): void {
  for (const key of Object.keys(NO_COUNTS) as (keyof Counts)[]) sum[key] += sign * counts[key];
}
