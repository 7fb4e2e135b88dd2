import type { Part, ToolCallPart } from "../../model/part.ts";
import { getContentsName, parseToolArguments } from "../effects/call-arguments.ts";
import { isCovering, type LineRange } from "../effects/line-range.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import type { ShownContents } from "../shown-contents.ts";
import type { Slot } from "../slot.ts";
import { buildStubPart, buildStubText, describeOutputSize, describeTextSize, getStubPlace } from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";

/** Stubs every file read that a later read repeats, either in full or for at least the same lines. */
export const stubDuplicateReads: Pass = (slots, context) => {
  const { shownContents: showings } = getWindowIndex(slots);
  const repeated = findRepeated(showings);
  if (repeated.size === 0) return [];
  const kept = findProtectedSeqs(slots, context.pins);
  const isNeeded = (showing: ShownContents) =>
    !repeated.has(showing) || kept.has(slots[showing.slot]?.seq ?? -1);
  return stubShownContents(slots, showings, isNeeded, "read again later", context);
};

function findRepeated(showings: readonly ShownContents[]): ReadonlySet<ShownContents> {
  const repeated = new Set<ShownContents>();
  const later = new Map<string, (LineRange | undefined)[]>();
  for (const showing of showings.toReversed()) {
    const ranges = later.get(showing.path) ?? [];
    if (ranges.some((range) => isCovering(range, showing.range))) repeated.add(showing);
    else later.set(showing.path, [...ranges, showing.range]);
  }
  return repeated;
}

/**
 * Proposes stubs for file contents that are no longer needed. A whole result that shows several files is stubbed only
 * if none of them is needed.
 */
function stubShownContents(
  slots: readonly Slot[],
  showings: readonly ShownContents[],
  isNeeded: (showing: ShownContents) => boolean,
  reason: string,
  context: PassContext,
): readonly Proposal[] {
  const places = Map.groupBy(showings, ({ slot, part }) => `${slot} ${part}`);
  return [...places.values()].flatMap((here) => {
    const [first] = here as [ShownContents];
    const leaving = here.filter((showing) => !isNeeded(showing));
    if (leaving.length === 0 || (!first.block && leaving.length < here.length)) return [];
    const slot = slots[first.slot] as Slot;
    const part = slot.message.parts[first.part] as Part;
    return shrinkPart(
      slot,
      first.part,
      stubContents(part, leaving, getStubPlace(slot, context)),
      reason,
      context,
    );
  });
}

function stubContents(
  part: Part,
  leaving: readonly ShownContents[],
  place: ReturnType<typeof getStubPlace>,
): Part {
  const cut = (text: string, output?: number) =>
    leaving
      .flatMap(({ path, block }) => (block && block.output === output ? [{ path, ...block }] : []))
      .toSorted((one, other) => other.from - one.from)
      .reduce((left, { path, from, to }) => {
        const stub = buildStubText({
          what: describePaths([path]),
          size: describeTextSize(to - from),
          ...place,
        });
        return left.slice(0, from) + stub + left.slice(to);
      }, text);
  if (part.type === "text") return { ...part, text: cut(part.text) };
  if (part.type === "tool-call") return stubWritten(part, leaving, place);
  if (part.type !== "tool-result") return part;
  if (leaving.some(({ block }) => block)) {
    const output = part.output.map((content, index) =>
      content.type === "text" ? { ...content, text: cut(content.text, index) } : content,
    );
    return { ...part, output };
  }
  const what = describePaths([...new Set(leaving.map(({ path }) => path))]);
  return { ...part, output: [buildStubPart({ what, size: describeOutputSize(part.output), ...place })] };
}

/** The call without the contents that it wrote; its other arguments stay. */
function stubWritten(
  call: ToolCallPart,
  leaving: readonly ShownContents[],
  place: ReturnType<typeof getStubPlace>,
): Part {
  const from = parseToolArguments(call.input);
  const name = from && getContentsName(from);
  if (!from || name === undefined) return call;
  const what = `What was written to ${leaving.map(({ path }) => path).join(", ")}`;
  const stub = buildStubText({ what, size: describeTextSize(String(from[name]).length), ...place });
  const input = { ...from, [name]: stub };
  return { ...call, input: typeof call.input === "string" ? JSON.stringify(input) : input };
}

function describePaths(paths: readonly string[]): string {
  return `An earlier read of ${paths.join(", ")}`;
}
