import type { Kernel } from "../../index.ts";
import { escapeLine } from "../escape.ts";
import { formatQuantity } from "../format-count.ts";
import type { Paint } from "../paint.ts";

/** Result of indexing files. */
export type FileIndexResult = Awaited<ReturnType<Kernel["memory"]["indexFiles"]>>;

const SHOWN = 20;

/** Formats the result of indexing: counts, then skipped files with reasons. */
export function renderIndexReport(
  { files, changed, removed, chunks, skipped }: FileIndexResult,
  paint: Paint,
): readonly string[] {
  const unchanged = files - changed - skipped.length;
  const facts = [
    `${formatQuantity(changed, "file")} indexed (${formatQuantity(chunks, "chunk")})`,
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
