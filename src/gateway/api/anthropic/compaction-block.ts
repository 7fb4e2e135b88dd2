import { objectOf } from "../../../formats/content/fields.ts";

/** A block of Anthropic's Messages that holds a summary of all that stands before it. */
export interface CompactionBlock {
  readonly type: "compaction";
  readonly content: string;
}

/** The block that holds a summary. */
export function compactionBlock(content: string): CompactionBlock {
  return { type: "compaction", content };
}

/** True for such a block, also for one whose summary has failed. */
export function isCompactionBlock(value: unknown): boolean {
  return objectOf(value)?.type === "compaction";
}

/** The summary of a block; undefined if it has failed: then the block says nothing. */
export function summaryIn(value: unknown): string | undefined {
  const content = objectOf(value)?.content;
  return typeof content === "string" && content.trim() !== "" ? content : undefined;
}
