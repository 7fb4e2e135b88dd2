import type { ListedOverlay } from "../../index.ts";

/** Tells whether the overlay at `index` is in force, and if not, why; `listed` is ordered newest first. */
export function describeStanding(index: number, listed: readonly ListedOverlay[]): string {
  const { entry, isHolding } = listed[index] as ListedOverlay;
  if (isHolding) return "in force";
  if (entry.edit.type === "revert") return "reverted";
  const rebuilt = listed.slice(0, index).find(isRebuilding);
  return rebuilt ? `replaced by #${rebuilt.entry.seq}` : "reverted";
}

function isRebuilding({ entry: { edit }, isHolding }: ListedOverlay): boolean {
  return isHolding && (edit.type === "plan" || edit.type === "summarize") && edit.isWhole === true;
}
