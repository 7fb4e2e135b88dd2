import type { StoredChunk } from "../../log/store/memory-store.ts";
import type { SessionHit } from "../hit.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import { toComparableText } from "./comparable-text.ts";

/** Maximum length of a hit that has grown. */
const MAX_CHARACTERS = 1_500;

/**
 * A hit, extended in its own text over all of a copy that begins or ends in it; undefined if its text does not contain
 * the copy there. The same text is cut into other chunks where something stands before it, as in the call that starts a
 * sub-agent.
 */
export async function growOverCopy(
  hit: SessionHit,
  chunk: StoredChunk,
  copy: { readonly hit: SessionHit; readonly comparable: string },
  texts: ChunkTexts,
): Promise<SessionHit | undefined> {
  const wanted = copy.hit.text.trim();
  const whole = (await texts.readWhole(chunk)) ?? "";
  const start = Math.max(0, hit.from - wanted.length);
  const found = whole.slice(start, hit.to + wanted.length).indexOf(wanted);
  if (found < 0) return undefined;
  const at = start + found;
  const end = at + wanted.length;
  const common = Math.min(hit.to, end) - Math.max(hit.from, at);
  const [from, to] = [Math.min(hit.from, at), Math.max(hit.to, end)];
  if (common <= wanted.length / 2 || to - from > MAX_CHARACTERS) return undefined;
  const text = whole.slice(from, to);
  return toComparableText(text, chunk).includes(copy.comparable) ? { ...hit, from, to, text } : undefined;
}
