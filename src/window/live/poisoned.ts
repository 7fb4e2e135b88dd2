import type { SingleEdit } from "../../model/overlay.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import type { Poison } from "../limits/poison.ts";
import type { PoisonKind } from "../limits/poison-forms.ts";
import type { Slot } from "../slot.ts";
import { sizeOfBytes, sizeOfOutput, sizeOfText, stubPart } from "../stub.ts";

/** Position of a block that the provider rejects. */
interface Found {
  readonly slot: Slot;
  readonly part: number;
  readonly inner?: number;
}

/**
 * A lasting edit that replaces the block rejected by a provider with a stub; undefined if it cannot be found. If the
 * provider does not name the block, it is the newest candidate.
 */
export function stubForPoison(
  poison: Poison,
  slots: readonly Slot[],
  session: string,
): SingleEdit | undefined {
  const found = byCall(poison, slots) ?? byPath(poison, slots) ?? newest(poison.kind, slots);
  if (!found) return undefined;
  const { slot, part } = found;
  return {
    type: "replace",
    target: { seq: slot.seq, part },
    parts: standIns(found, poison.kind, session),
    isLasting: true,
  };
}

/** The parts that replace a block. Reasoning is removed without a stub, because partial reasoning is invalid. */
function standIns({ slot, part: index, inner }: Found, kind: PoisonKind, session: string): readonly Part[] {
  const part = slot.message.parts[index] as Part;
  if (part.type === "reasoning" || (part.type === "blob" && part.of === "reasoning")) return [];
  const stub = (what: string, size: string) =>
    stubPart({ what: `${what} that the provider rejected (${kind})`, size, session, seq: slot.seq });
  if (part.type !== "tool-result")
    return [stub("A block", part.type === "blob" ? sizeOfBytes(part.sizeBytes) : sizeOfText(lengthOf(part)))];
  const rejected = inner === undefined ? undefined : part.output[inner];
  if (rejected && inner !== undefined) {
    const output: ToolResultPart["output"] = part.output.with(
      inner,
      stub("A block", sizeOfOutput([rejected])),
    );
    return [{ ...part, output }];
  }
  const words = stub("A tool result", sizeOfOutput(part.output));
  return isUnpaired(kind) ? [words] : [{ ...part, output: [words] }];
}

/** Finds a call or result that the provider names. */
function byCall({ callIds }: Poison, slots: readonly Slot[]): Found | undefined {
  if (!callIds) return undefined;
  return findNewest(
    slots,
    (part) => (part.type === "tool-result" || part.type === "tool-call") && callIds.includes(part.callId),
  );
}

/** Finds a block by its index: the provider counts the messages of the request. */
function byPath({ path, kind }: Poison, slots: readonly Slot[]): Found | undefined {
  const slot = path && slots[path.message];
  if (!slot || slot.isNote) return undefined;
  const part = path.block ?? slot.message.parts.findIndex(MEANT[kind]);
  if (!slot.message.parts[part]) return undefined;
  return { slot, part, ...(path.inner !== undefined && { inner: path.inner }) };
}

function newest(kind: PoisonKind, slots: readonly Slot[]): Found | undefined {
  if (isUnpaired(kind)) return undefined;
  const found = findNewest(slots, (part) => MEANT[kind](part) || innerIndex(part, MEANT[kind]) >= 0);
  const part = found?.slot.message.parts[found.part];
  if (!found || !part || MEANT[kind](part)) return found;
  return { ...found, inner: innerIndex(part, MEANT[kind]) };
}

function findNewest(slots: readonly Slot[], isMeant: (part: Part) => boolean): Found | undefined {
  for (const slot of slots.toReversed()) {
    const part = slot.isNote ? -1 : slot.message.parts.findLastIndex(isMeant);
    if (part >= 0) return { slot, part };
  }
  return undefined;
}

function innerIndex(part: Part, isMeant: (part: Part) => boolean): number {
  return part.type === "tool-result" ? part.output.findLastIndex(isMeant) : -1;
}

const LONG_TEXT = 100_000;
const isMedia = (part: Part) => part.type === "blob" && part.of === undefined;
const isImage = (part: Part) => isMedia(part) && part.type === "blob" && part.mime.startsWith("image/");

/** The parts that each kind of rejection can refer to. */
const MEANT: Readonly<Record<PoisonKind, (part: Part) => boolean>> = {
  image: isImage,
  document: (part) => isMedia(part) && !isImage(part),
  "media-type": isMedia,
  "orphan-call": (part) => part.type === "tool-call",
  "orphan-result": (part) => part.type === "tool-result",
  unpaired: (part) => part.type === "tool-result",
  reasoning: (part) => part.type === "reasoning" || (part.type === "blob" && part.of === "reasoning"),
  empty: (part) => part.type === "text" && part.text.trim() === "",
  "long-text": (part) =>
    (part.type === "text" && part.text.length > LONG_TEXT) || (part.type === "blob" && part.of === "text"),
};

function isUnpaired(kind: PoisonKind): boolean {
  return kind === "orphan-call" || kind === "orphan-result" || kind === "unpaired";
}

function lengthOf(part: Part): number {
  return part.type === "text" ? part.text.length : JSON.stringify(part).length;
}
