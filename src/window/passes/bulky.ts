import type { Message } from "../../model/message.ts";
import type { ToolResultPart } from "../../model/part.ts";
import { answersOf, toolOf } from "../answer.ts";
import { identifiersOf } from "../extract/identifiers.ts";
import { inputText } from "../extract/said.ts";
import type { Pass, Proposal } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { hasStub, sizeOfOutput, stubText } from "../stub.ts";
import { linesThatMatter } from "./lines-that-matter.ts";

/** Which results are too bulky, and what is left of them. */
export interface BulkyOptions {
  /** Texts longer than this are reduced; 4,000 characters unless given. */
  readonly maxLength?: number;
  /** What they are reduced to; a quarter of that unless given. */
  readonly reducedLength?: number;
  /** How many of the latest results stay as they are; 5 unless given. */
  readonly keep?: number;
}

/** Reduces long old tool results to their head, their tail and the lines that matter. */
export function bulky({
  maxLength = 4_000,
  reducedLength = Math.floor(maxLength / 4),
  keep = 5,
}: BulkyOptions = {}): Pass {
  return (slots, context) => {
    const kept = protectedSeqs(slots, context.pins);
    const answers = answersOf(slots);
    const named = new Set<string>();
    let next = slots.length;
    const proposals: Proposal[] = [];
    for (const answer of answers.slice(0, Math.max(0, answers.length - keep)).toReversed()) {
      // Going backwards, the names that later messages use grow as we go.
      for (; next > answer.slot; next--) addNames((slots[next - 1] as Slot).message, named);
      const slot = slots[answer.slot] as Slot;
      const { output } = answer.result;
      if (kept.has(slot.seq) || !output.some((content) => isBulky(content, maxLength))) continue;
      const what = `Most of the result of ${toolOf(answer) ?? "a tool"}`;
      const stub = stubText({ what, size: sizeOfOutput(output), session: context.session, seq: slot.seq });
      const reduced = output.map((content) =>
        isBulky(content, maxLength)
          ? { type: "text" as const, text: `${reducedText(content, reducedLength, named)}\n${stub}` }
          : content,
      );
      const part = { ...answer.result, output: reduced };
      proposals.push(...shrinkPart(slot, answer.part, part, "bulky old tool result", context));
    }
    return proposals.toReversed();
  };
}

type Content = ToolResultPart["output"][number];

function isBulky(content: Content, maxLength: number): boolean {
  if (content.type === "text") return content.text.length > maxLength && !hasStub(content.text);
  return content.type === "blob" && content.of === "text" && content.sizeBytes > maxLength;
}

/** Of a text that lies outside the log, its preview is all we have. */
function reducedText(content: Content, maxLength: number, named: ReadonlySet<string>): string {
  const text =
    content.type === "text" ? content.text : content.type === "blob" ? (content.preview ?? "") : "";
  return linesThatMatter(text, maxLength, (name) => named.has(name));
}

/** What the assistant says and calls tools with; names in results do not count, as everything is named there. */
function addNames({ role, parts }: Message, named: Set<string>): void {
  if (role !== "assistant") return;
  for (const part of parts) {
    const text =
      part.type === "text" || part.type === "reasoning"
        ? part.text
        : part.type === "tool-call"
          ? inputText(part.input)
          : "";
    identifiersOf(text, true, (name) => named.add(name));
  }
}
