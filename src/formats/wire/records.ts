import { hash } from "node:crypto";
import type { RecordItem } from "../item.ts";
import type { Piece } from "./dialect.ts";

/** A short digest of a text: for comparing, not for naming. */
export function digestOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** A piece as a record. Clients rewrite what they send, so each carries a version. */
export function recordOf(piece: Piece, more: Pick<RecordItem, "child" | "parent"> = {}): RecordItem {
  return { type: "record", ...piece, version: digestOf(JSON.stringify(piece.body)), ...more };
}

const MAX_IDS = 100_000;

/** Keeps ids apart where a source uses one twice, for as many as it can remember; later ones become positions. */
export class DistinctIds {
  readonly #uses = new Map<string, number>();

  /** The piece, with another id if its own is taken. */
  apart(piece: Piece, place: string): Piece {
    const used = this.#uses.get(piece.id) ?? 0;
    if (used === 0 && this.#uses.size >= MAX_IDS)
      return { ...piece, id: piece.id === place ? place : `${place}:${piece.id}` };
    this.#uses.set(piece.id, used + 1);
    return used === 0 ? piece : { ...piece, id: `${piece.id}~${used + 1}` };
  }
}
