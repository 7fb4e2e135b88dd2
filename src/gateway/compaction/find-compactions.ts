import { arrayOf } from "../../formats/content/fields.ts";
import { isCompactionBlock, summaryIn } from "../api/anthropic/compaction-block.ts";
import type { JsonObject } from "../api/api.ts";
import type { CutBody, Range } from "../body/cut.ts";
import { elementAt } from "../body/wire-message.ts";

/** The compaction blocks of a request. */
export interface FoundCompactions {
  /** The last block with a summary; everything before it must not be sent. */
  readonly last: FoundCompaction | undefined;
  /** Elements that contain such blocks, without the blocks; undefined for elements with no other content. */
  readonly bare: ReadonlyMap<number, JsonObject | undefined>;
}

/** A compaction block with a summary. */
export interface FoundCompaction {
  readonly text: string;
  /** Index of the element that contains the block. */
  readonly element: number;
  /** The content after the block in that element; undefined if there is none. */
  readonly behind: JsonObject | undefined;
}

const NAME = Buffer.from('"compaction"');

/** Finds the compaction blocks of an Anthropic Messages request; undefined if there are none. */
export function findCompactions(cut: CutBody): FoundCompactions | undefined {
  const bare = new Map<number, JsonObject | undefined>();
  let last: FoundCompaction | undefined;
  for (const element of elementsThatName(cut)) {
    const own = elementAt(cut, element);
    const blocks = arrayOf(own.content);
    const others = blocks.filter((block) => !isCompactionBlock(block));
    if (others.length === blocks.length) continue;
    bare.set(element, withBlocks(own, others));
    const place = blocks.findLastIndex((block) => isCompactionBlock(block) && summaryIn(block) !== undefined);
    const text = summaryIn(blocks[place]);
    if (text === undefined) continue;
    const behind = blocks.slice(place + 1).filter((block) => !isCompactionBlock(block));
    last = { text, element, behind: withBlocks(own, behind) };
  }
  return bare.size === 0 ? undefined : { last, bare };
}

function withBlocks(element: JsonObject, content: readonly unknown[]): JsonObject | undefined {
  return content.length === 0 ? undefined : { ...element, content };
}

/**
 * Carries the search result over to a kept body, so that the next request that extends the body is searched only from
 * its end.
 */
export function rememberCompactions(kept: CutBody, cut: CutBody): void {
  const named = known.get(cut);
  if (named) known.set(kept, named);
}

const known = new WeakMap<CutBody, readonly number[]>();

/** Elements that contain the name; only these are parsed. */
function elementsThatName(cut: CutBody): readonly number[] {
  const { bytes, elements, like, same } = cut;
  const earlier = like && known.get(like);
  const found = earlier?.filter((index) => index < same) ?? [];
  let index = earlier ? same : 0;
  const first = elements[index];
  const end = elements.at(-1)?.to ?? 0;
  for (let at = first ? bytes.indexOf(NAME, first.from) : -1; at >= 0 && at < end; ) {
    while ((elements[index] as Range).to <= at) index++;
    found.push(index);
    at = bytes.indexOf(NAME, (elements[index] as Range).to);
  }
  known.set(cut, found);
  return found;
}
