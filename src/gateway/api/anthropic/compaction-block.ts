import { objectOf } from "../../../formats/content/fields.ts";

/** A block of Anthropic's Messages API with a summary of everything before it. */
export interface CompactionBlock {
  readonly type: "compaction";
  readonly content: string;
}

export function compactionBlock(content: string): CompactionBlock {
  return { type: "compaction", content };
}

/** True for a compaction block, even if its summary failed. */
export function isCompactionBlock(value: unknown): boolean {
  return objectOf(value)?.type === "compaction";
}

/** The summary of a block; undefined if it failed, which leaves the block without content. */
export function summaryIn(value: unknown): string | undefined {
  const content = objectOf(value)?.content;
  return typeof content === "string" && content.trim() !== "" ? content : undefined;
}
