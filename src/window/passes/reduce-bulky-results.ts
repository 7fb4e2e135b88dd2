import type { Message } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { renderInput } from "../extract/part-text.ts";
import { scanIdentifiers } from "../extract/scan-identifiers.ts";
import type { Pass, Proposal } from "../pass.ts";
import { getToolName } from "../placed-result.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { buildStubText, describeOutputSize, getStubPlace, hasStub } from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";
import { findTroubleLines } from "./find-trouble-lines.ts";
import { NameSet } from "./name-set.ts";
import { reduceText } from "./reduce-text.ts";

/** Defines bulky results and how far to reduce them. */
export interface BulkyOptions {
  /** Texts longer than this are reduced; default 4,000 characters. */
  readonly maxLength?: number;
  /** Length of a reduced text; default a quarter of `maxLength`. */
  readonly reducedLength?: number;
  /** Number of latest results that stay unchanged; default 5. */
  readonly keep?: number;
}

/** Reduces long, old tool results to their head, their tail and the lines that matter. */
export function reduceBulkyResults({
  maxLength = 4_000,
  reducedLength = Math.floor(maxLength / 4),
  keep = 5,
}: BulkyOptions = {}): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    const { results: answers } = getWindowIndex(slots);
    const isOld = (index: number) => index < answers.length - keep;
    const found = answers.filter(({ slot, result }, index) => {
      const isFree = isOld(index) && !kept.has((slots[slot] as Slot).seq);
      return isFree && result.output.some((content) => isBulky(content, maxLength));
    });
    if (found.length === 0) return [];
    const named = new NameSet();
    let next = slots.length;
    const proposals = found.toReversed().flatMap((answer): readonly Proposal[] => {
      // Going backwards, the set of names used by later messages only grows.
      for (; next > answer.slot; next--)
        for (const name of listNames((slots[next - 1] as Slot).message)) named.add(name);
      const slot = slots[answer.slot] as Slot;
      const { output } = answer.result;
      const what = `Most of the result of ${getToolName(answer) ?? "a tool"}`;
      const stub = buildStubText({ what, size: describeOutputSize(output), ...getStubPlace(slot, context) });
      const reduced = output.map((content) =>
        isBulky(content, maxLength)
          ? { type: "text" as const, text: `${reduceContent(content, reducedLength, named)}\n${stub}` }
          : content,
      );
      const part = { ...answer.result, output: reduced };
      return shrinkPart(slot, answer.part, part, "bulky old tool result", context);
    });
    return proposals.toReversed();
  };
}

type Content = ToolResultPart["output"][number];

function isBulky(content: Content, maxLength: number): boolean {
  if (content.type === "text") return content.text.length > maxLength && !hasStub(content.text);
  return content.type === "blob" && content.of === "text" && content.sizeBytes > maxLength;
}

/** Cache: contents of messages are immutable. */
const troubles = new WeakMap<Content, readonly number[]>();

/** Only the preview is available for text stored as a blob. */
function reduceContent(content: Content, maxLength: number, named: NameSet): string {
  const text =
    content.type === "text" ? content.text : content.type === "blob" ? (content.preview ?? "") : "";
  const trouble = troubles.get(content) ?? findTroubleLines(text);
  troubles.set(content, trouble);
  return reduceText(text, maxLength, named, trouble);
}

/** Cache: messages are immutable, and every call asks about the same ones. */
const known = new WeakMap<Message, readonly string[]>();

/** Names in the assistant's text and calls. Names in results do not count, because results name everything. */
function listNames(message: Message): readonly string[] {
  if (message.role !== "assistant") return [];
  const found = known.get(message);
  if (found) return found;
  const names = new Set<string>();
  for (const part of message.parts) scanIdentifiers(getPartText(part), true, (name) => names.add(name));
  const all = [...names];
  known.set(message, all);
  return all;
}

function getPartText(part: Part): string {
  if (part.type === "text" || part.type === "reasoning") return part.text;
  return part.type === "tool-call" ? renderInput(part.input) : "";
}
