import { normalizePath } from "./normalize-path.ts";

/** A file whose contents appear in a text, and their position there. */
interface ShownFile {
  readonly path: string;
  readonly shown: { readonly from: number; readonly to: number };
}

const BLOCK = /<((?:final_)?file_content) path="([^"\n]{1,1000})"[^>\n]{0,200}>/g;

/**
 * The files whose contents a text holds in `<file_content path="…">` blocks, which clients insert for file mentions
 * (`@path`).
 */
export function findShownFiles(text: string): readonly ShownFile[] {
  if (!text.includes("file_content path=")) return [];
  const shown: ShownFile[] = [];
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
