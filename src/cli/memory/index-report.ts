import type { Kernel } from "../../index.ts";
import { countOf } from "../count.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";

/** Result of indexing files. */
export type IndexedFiles = Awaited<ReturnType<Kernel["memory"]["indexFiles"]>>;

const SHOWN = 20;

/** Formats the result of indexing: counts, then skipped files with reasons. */
export function indexReport(
  { files, changed, removed, chunks, skipped }: IndexedFiles,
  paint: Paint,
): readonly string[] {
  const unchanged = files - changed - skipped.length;
  const facts = [
    `${countOf(changed, "file")} indexed (${countOf(chunks, "chunk")})`,
    `${unchanged} unchanged`,
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
  ];
  const shown = skipped
    .slice(0, SHOWN)
    .map(({ path, reason }) => paint("dim", `  skipped, ${reason}: ${escapeLine(path)}`));
  const more = skipped.length - SHOWN;
  return [`${facts.join(", ")}.`, ...shown, ...(more > 0 ? [paint("dim", `  … and ${more} more`)] : [])];
}
