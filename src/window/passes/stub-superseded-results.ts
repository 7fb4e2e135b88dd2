import type { Pass, PassContext, Proposal } from "../pass.ts";
import type { PlacedResult } from "../placed-result.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { buildStubPart, describeOutputSize, getStubPlace, hasStub, isStub, isStubbed } from "../stub.ts";
import { findTouches } from "../touch/find-touches.ts";
import { isContents, type ShownContents } from "../touch/shown-contents.ts";
import type { Touch } from "../touch/touch.ts";
import { getWindowIndex } from "../window-index.ts";
import { stubShownContents } from "./stub-shown-contents.ts";

/** Matches answers of tools that refused or were interrupted. */
const REFUSED = /reject|denied|interrupt|cancel|does(?:n't| not) want/i;
const MAX_REFUSAL_LENGTH = 600;
const MAX_SHOWN_COMMAND = 80;

/**
 * Stubs results that later events have made obsolete: output of a command that ran again, reads of a file rewritten
 * since.
 */
export const stubSupersededResults: Pass = (slots, context) => {
  const kept = findProtectedSeqs(slots, context.pins);
  const isFree = (slot: number) => !kept.has(slots[slot]?.seq ?? -1);
  const { results: answers, shownContents: showings } = getWindowIndex(slots);
  const touches = new Map(answers.map((answer) => [answer, listTouches(answer)]));
  const writtenAt = findLastWrites(touches);
  const isNeeded = ({ path, slot }: ShownContents) => !isFree(slot) || (writtenAt.get(path) ?? -1) <= slot;
  const runs = findEarlierRuns(touches).filter(([{ slot }]) => isFree(slot));
  const ran = new Set(runs.map(([{ slot, part }]) => `${slot} ${part}`));
  const reads = showings.filter(({ slot, part }) => !ran.has(`${slot} ${part}`));
  return [
    ...runs.flatMap(([answer, command]) => stubRun(slots, answer, command, context)),
    ...stubShownContents(slots, reads, isNeeded, "rewritten later", context),
  ];
};

function listTouches({ placedCall: to, result }: PlacedResult): readonly Touch[] {
  if (to?.call.type !== "tool-call") return [];
  return findTouches(to.call).filter(({ kind }) => kind === "run" || (kind === "write" && !result.isError));
}

/** For each file, the slot of the last call that wrote the whole file and still shows its contents. */
function findLastWrites(touches: ReadonlyMap<PlacedResult, readonly Touch[]>): ReadonlyMap<string, number> {
  const writes = new Map<string, number>();
  for (const [{ placedCall: to, result }, touched] of touches) {
    if (!to || !isContents(result.output)) continue;
    const written = touched.flatMap(({ kind, path }) =>
      kind === "write" && path !== undefined ? [path] : [],
    );
    if (written.length === 0 || (to.call.type === "tool-call" && hasStub(JSON.stringify(to.call.input))))
      continue;
    for (const path of written) writes.set(path, Math.max(to.slot, writes.get(path) ?? -1));
  }
  return writes;
}

/** The answers of commands that ran again later and were answered then. */
function findEarlierRuns(
  touches: ReadonlyMap<PlacedResult, readonly Touch[]>,
): readonly (readonly [PlacedResult, string])[] {
  const seen = new Set<string>();
  return [...touches].toReversed().flatMap(([answer, [touch]]) => {
    if (touch?.kind !== "run" || touch.command === undefined) return [];
    const command = touch.command.trim();
    const key = JSON.stringify([touch.folder, command]);
    if (seen.has(key)) return [[answer, command] as const];
    if (!isStubbed(answer.result.output) && !isRefused(answer.result.output)) seen.add(key);
    return [];
  });
}

function isRefused(output: PlacedResult["result"]["output"]): boolean {
  const [first] = output;
  return first?.type === "text" && first.text.length <= MAX_REFUSAL_LENGTH && REFUSED.test(first.text);
}

function stubRun(
  slots: readonly Slot[],
  { slot: index, part, result }: PlacedResult,
  command: string,
  context: PassContext,
): readonly Proposal[] {
  if (isStub(result.output)) return [];
  const slot = slots[index] as Slot;
  const line = command.replace(/\s+/g, " ");
  const shown = line.length > MAX_SHOWN_COMMAND ? `${line.slice(0, MAX_SHOWN_COMMAND)}…` : line;
  const what = `The output of an earlier run of \`${shown}\``;
  const size = describeOutputSize(result.output);
  const output = [buildStubPart({ what, size, ...getStubPlace(slot, context) })];
  return shrinkPart(slot, part, { ...result, output }, "run again later", context);
}
