import { toObject } from "../fields.ts";

/** A block of Anthropic's Messages API with a summary of everything before it. */
export interface CompactionBlock {
  readonly type: "compaction";
  readonly content: string;
}

export function buildCompactionBlock(content: string): CompactionBlock {
  return { type: "compaction", content };
}

/** True for a compaction block, even if its summary failed. */
export function isCompactionBlock(value: unknown): boolean {
  return toObject(value)?.type === "compaction";
}

/** The summary of a block; undefined if it failed, which leaves the block without content. */
export function findBlockSummary(value: unknown): string | undefined {
  const content = toObject(value)?.content;
  return typeof content === "string" && content.trim() !== "" ? content : undefined;
}
