import { findBlockSummary, isCompactionBlock } from "../../wire/anthropic/compaction-block.ts";
import { toArray } from "../../wire/fields.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { ByteRange } from "./byte-range.ts";
import type { CutBody } from "./cut-body.ts";
import { parseElement } from "./request-messages.ts";

/** The compaction blocks of a request. */
export interface CompactionBlocks {
  /** The last block with a summary; everything before it must not be sent. */
  readonly last: SummaryBlock | undefined;
  /** Elements that contain such blocks, without the blocks; undefined for elements with no other content. */
  readonly stripped: ReadonlyMap<number, WireObject | undefined>;
}

/** A compaction block with a summary. */
export interface SummaryBlock {
  readonly text: string;
  /** Index of the element that contains the block. */
  readonly element: number;
  /** The content after the block in that element; undefined if there is none. */
  readonly rest: WireObject | undefined;
}

const COMPACTION_NAME = Buffer.from('"compaction"');

/** Finds the compaction blocks of an Anthropic Messages request; undefined if there are none. */
export function findCompactions(cut: CutBody): CompactionBlocks | undefined {
  const bare = new Map<number, WireObject | undefined>();
  let last: SummaryBlock | undefined;
  for (const element of findNamingElements(cut)) {
    const own = parseElement(cut, element);
    const blocks = toArray(own.content);
    const others = blocks.filter((block) => !isCompactionBlock(block));
    if (others.length === blocks.length) continue;
    bare.set(element, replaceBlocks(own, others));
    const place = blocks.findLastIndex(
      (block) => isCompactionBlock(block) && findBlockSummary(block) !== undefined,
    );
    const text = findBlockSummary(blocks[place]);
    if (text === undefined) continue;
    const after = blocks.slice(place + 1).filter((block) => !isCompactionBlock(block));
    last = { text, element, rest: replaceBlocks(own, after) };
  }
  return bare.size === 0 ? undefined : { last, stripped: bare };
}

function replaceBlocks(element: WireObject, content: readonly unknown[]): WireObject | undefined {
  return content.length === 0 ? undefined : { ...element, content };
}

/** Elements that contain the name; only these are parsed. */
function findNamingElements(cut: CutBody): readonly number[] {
  const { bytes, elements, like, same } = cut;
  const earlier = like?.memo.compactionElements;
  const found = earlier?.filter((index) => index < same) ?? [];
  let index = earlier ? same : 0;
  const first = elements[index];
  const end = elements.at(-1)?.to ?? 0;
  for (let at = first ? bytes.indexOf(COMPACTION_NAME, first.from) : -1; at >= 0 && at < end; ) {
    while ((elements[index] as ByteRange).to <= at) index++;
    found.push(index);
    at = bytes.indexOf(COMPACTION_NAME, (elements[index] as ByteRange).to);
  }
  cut.memo.compactionElements = found;
  return found;
}
