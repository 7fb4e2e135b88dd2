import type { EntryId } from "../../model/entry.ts";
import type { Hit } from "../hit.ts";

/** The content that the window already shows. */
export interface WindowContent {
  /** Entries that are in the window completely. */
  readonly entries?: ReadonlySet<EntryId>;
  /** Texts of the window's messages. */
  readonly texts?: readonly string[];
}

/** The hits with new content: not in the window, not part of a better hit, not a repetition. */
export function pickFreshHits(hits: readonly Hit[], { entries, texts = [] }: WindowContent = {}): Hit[] {
  const seen = texts.map(collapseSpaces).filter((text) => text !== "");
  const kept: Hit[] = [];
  for (const hit of hits) {
    const words = collapseSpaces(hit.text);
    if (words === "" || (hit.kind === "session" && entries?.has(hit.entry))) continue;
    if (kept.some((better) => isOverlapping(better, hit)) || seen.some((text) => text.includes(words)))
      continue;
    kept.push(hit);
    seen.push(words);
  }
  return kept;
}

function isOverlapping(one: Hit, other: Hit): boolean {
  const isSameText =
    one.kind === "session" && other.kind === "session"
      ? one.entry === other.entry && one.part === other.part
      : one.kind === "file" && other.kind === "file" && one.path === other.path;
  if (!isSameText) return false;
  const common = Math.min(one.to, other.to) - Math.max(one.from, other.from);
  return common > (other.to - other.from) / 2;
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
