import { normalizePath } from "./path.ts";

/** A file that a text names or shows. */
export interface Mention {
  readonly path: string;
  /** Where in the text the contents stand, if it shows them. */
  readonly shown?: { readonly from: number; readonly to: number };
}

const BLOCK = /<((?:final_)?file_content) path="([^"\n]{1,1000})"[^>\n]{0,200}>/g;
const NAMED = /(?<![\w@])@(?:"([^"\n]{1,500})"|((?:[\w.~-]*\/)[\w./~+-]*\w|[\w-]+\.\w{1,8})(?![\w@]))/g;

/** The files that a text mentions as `@path`, and those whose contents it holds in a `<file_content path="…">` block. */
export function mentionsOf(text: string): readonly Mention[] {
  const shown = shownIn(text);
  const isShown = (at: number) => shown.some(({ shown }) => shown.from <= at && at < shown.to);
  const named = [...text.matchAll(NAMED)]
    .filter((match) => !isShown(match.index))
    .map((match) => ({ path: normalizePath((match[1] ?? match[2]) as string) }));
  return [...shown, ...named];
}

/** Only those whose contents a text holds. */
export function shownIn(text: string): readonly Required<Mention>[] {
  if (!text.includes("file_content path=")) return [];
  const shown: Required<Mention>[] = [];
  let end = 0;
  for (const match of text.matchAll(BLOCK)) {
    const from = match.index + match[0].length;
    const to = match.index < end ? -1 : text.indexOf(`</${match[1]}>`, from);
    if (to < 0) continue;
    shown.push({ path: normalizePath(match[2] as string), shown: { from, to } });
    end = to;
  }
  return shown;
}
