import { toEntry } from "../log/entry-body.ts";
import type { Place, SessionId } from "../model/entry.ts";
import { flattenParts } from "../model/message.ts";
import type { Store } from "../store/store.ts";

/** Sessions whose title has only words of one of the entries: importers and the gateway name a session by its first request. */
export async function findQuotingTitles(
  { sessions, entries }: Store,
  places: readonly Place[],
): Promise<readonly SessionId[]> {
  const quoting: SessionId[] = [];
  for (const id of new Set(places.map(({ session }) => session))) {
    const title = collapseSpaces((await sessions.get(id))?.title ?? "");
    if (title === "") continue;
    for (const { seq } of places.filter(({ session }) => session === id)) {
      const stored = await entries.get(id, seq);
      const entry = stored && toEntry(id, stored);
      if (entry?.kind !== "message") continue;
      const texts = flattenParts(entry.message).map((part) =>
        part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "",
      );
      if (!isQuoting(title, collapseSpaces(texts.join("\n")))) continue;
      quoting.push(id);
      break;
    }
  }
  return quoting;
}

/** True if a text has the title, cut off at its end or not, or all of its whole words. */
function isQuoting(title: string, text: string): boolean {
  if (text.includes(title.replace(/…$/, ""))) return true;
  const words = listWords(title.replace(/[\p{L}\p{N}]*…$/u, ""));
  const own = new Set(listWords(text));
  return words.length > 0 && words.every((word) => own.has(word));
}

function listWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function collapseSpaces(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
