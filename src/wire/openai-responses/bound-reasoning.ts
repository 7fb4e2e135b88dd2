import type { EditedPiece } from "../editing/edit-pieces.ts";
import { getPartKind } from "../editing/part-kind.ts";
import type { WireObject } from "../wire.ts";
import type { ItemPiece } from "./item-pieces.ts";

/** The remaining pieces of a turn whose reasoning is bound to the items after it. */
interface BoundPieces {
  readonly edited: readonly EditedPiece<ItemPiece>[];
  /** Items whose reasoning has left; the provider would refuse them under their ids. */
  readonly unbound: ReadonlySet<WireObject>;
}

/** Removes reasoning whose next item has left, because the API requires both or neither. */
export function dropUnboundReasoning(
  edited: readonly EditedPiece<ItemPiece>[],
  pieces: readonly ItemPiece[],
): BoundPieces {
  const staying = new Set(edited.flatMap((piece) => (isStaying(piece) ? [piece.piece.item] : [])));
  const isReasoning = ({ part }: ItemPiece) => getPartKind(part) === "reasoning";
  const leaving = new Set<WireObject>();
  const unbound = new Set<WireObject>();
  let isLost = false;
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    if (!isReasoning(piece)) {
      if (isLost) unbound.add(piece.item);
      continue;
    }
    const follower = pieces.slice(index + 1).find((later) => !isReasoning(later));
    const isFollowed = follower !== undefined && staying.has(follower.item);
    if (!before || !isReasoning(before)) isLost = false;
    if (isFollowed && staying.has(piece.item)) continue;
    leaving.add(piece.item);
    isLost = true;
  }
  return {
    edited: edited.filter((piece) => piece.type === "new" || !leaving.has(piece.piece.item)),
    unbound,
  };
}

/** True for a piece whose item still has its original kind. */
function isStaying(edited: EditedPiece<ItemPiece>): edited is Exclude<typeof edited, { type: "new" }> {
  if (edited.type !== "changed") return edited.type === "own";
  return edited.piece.isContent || getPartKind(edited.part) === getPartKind(edited.piece.part);
}
