import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import type { Poison } from "../limits/poison.ts";
import type { PoisonKind } from "../limits/poison-forms.ts";
import { isReasoning } from "../models/thinking-rule.ts";
import type { Slot } from "../slot.ts";
import { buildStubPart, describeByteSize, describeOutputSize, describeTextSize } from "../stub.ts";

/** Position of a block that the provider rejects. */
interface PoisonPosition {
  readonly slot: Slot;
  readonly part: number;
  readonly inner?: number;
}

/**
 * A lasting edit that replaces the block rejected by a provider with a stub; undefined if it cannot be found. If the
 * provider does not name the block, it is the newest candidate.
 */
export function buildPoisonStub(
  poison: Poison,
  slots: readonly Slot[],
  session: string,
): SingleEdit | undefined {
  const found =
    findByCall(poison, slots) ?? findByPath(poison, slots) ?? findNewestOfKind(poison.kind, slots);
  if (!found) return undefined;
  const { slot, part } = found;
  return {
    type: "replace",
    target: { seq: slot.seq, part },
    parts: buildReplacements(found, poison.kind, session),
    isLasting: true,
  };
}

/** The parts that replace a block. Reasoning is removed without a stub, because partial reasoning is invalid. */
function buildReplacements(
  { slot, part: index, inner }: PoisonPosition,
  kind: PoisonKind,
  session: string,
): readonly Part[] {
  const part = slot.message.parts[index] as Part;
  if (isReasoning(part)) return [];
  const stub = (what: string, size: string) =>
    buildStubPart({ what: `${what} that the provider rejected (${kind})`, size, session, seq: slot.seq });
  if (part.type !== "tool-result")
    return [
      stub(
        "A block",
        part.type === "blob" ? describeByteSize(part.sizeBytes) : describeTextSize(countPartCharacters(part)),
      ),
    ];
  const rejected = inner === undefined ? undefined : part.output[inner];
  if (rejected && inner !== undefined) {
    const output: ToolResultPart["output"] = part.output.with(
      inner,
      stub("A block", describeOutputSize([rejected])),
    );
    return [{ ...part, output }];
  }
  const words = stub("A tool result", describeOutputSize(part.output));
  return isUnpaired(kind) ? [words] : [{ ...part, output: [words] }];
}

/** Finds a call or result that the provider names. */
function findByCall({ callIds }: Poison, slots: readonly Slot[]): PoisonPosition | undefined {
  if (!callIds) return undefined;
  return findNewest(
    slots,
    (part) => (part.type === "tool-result" || part.type === "tool-call") && callIds.includes(part.callId),
  );
}

/** Finds a block by its index: the provider counts the messages of the request. */
function findByPath({ path, kind }: Poison, slots: readonly Slot[]): PoisonPosition | undefined {
  const slot = path && slots[path.message];
  if (!slot || slot.isNote) return undefined;
  const part = path.block ?? slot.message.parts.findIndex(CANDIDATES[kind]);
  if (!slot.message.parts[part]) return undefined;
  return { slot, part, ...dropUndefined({ inner: path.inner }) };
}

function findNewestOfKind(kind: PoisonKind, slots: readonly Slot[]): PoisonPosition | undefined {
  if (isUnpaired(kind)) return undefined;
  const found = findNewest(
    slots,
    (part) => CANDIDATES[kind](part) || findInnerIndex(part, CANDIDATES[kind]) >= 0,
  );
  const part = found?.slot.message.parts[found.part];
  if (!found || !part || CANDIDATES[kind](part)) return found;
  return { ...found, inner: findInnerIndex(part, CANDIDATES[kind]) };
}

function findNewest(slots: readonly Slot[], isMeant: (part: Part) => boolean): PoisonPosition | undefined {
  for (const slot of slots.toReversed()) {
    const part = slot.isNote ? -1 : slot.message.parts.findLastIndex(isMeant);
    if (part >= 0) return { slot, part };
  }
  return undefined;
}

function findInnerIndex(part: Part, isMeant: (part: Part) => boolean): number {
  return part.type === "tool-result" ? part.output.findLastIndex(isMeant) : -1;
}

const LONG_TEXT = 100_000;
const isMedia = (part: Part) => part.type === "blob" && part.of === undefined;
const isImage = (part: Part) => isMedia(part) && part.type === "blob" && part.mime.startsWith("image/");

/** The parts that each kind of rejection can refer to. */
const CANDIDATES: Readonly<Record<PoisonKind, (part: Part) => boolean>> = {
  image: isImage,
  document: (part) => isMedia(part) && !isImage(part),
  "media-type": isMedia,
  "orphan-call": (part) => part.type === "tool-call",
  "orphan-result": (part) => part.type === "tool-result",
  unpaired: (part) => part.type === "tool-result",
  reasoning: isReasoning,
  // No block is wrong by itself: the content before it has changed.
  thinking: () => false,
  "missing-reasoning": () => false,
  empty: (part) => part.type === "text" && part.text.trim() === "",
  "long-text": (part) =>
    (part.type === "text" && part.text.length > LONG_TEXT) || (part.type === "blob" && part.of === "text"),
};

/** True if calls and results do not match. */
export function isUnpaired(kind: PoisonKind): boolean {
  return kind === "orphan-call" || kind === "orphan-result" || kind === "unpaired";
}

function countPartCharacters(part: Part): number {
  return part.type === "text" ? part.text.length : JSON.stringify(part).length;
}
