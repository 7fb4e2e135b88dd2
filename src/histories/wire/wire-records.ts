import { computeFingerprint } from "../../model/base/digest.ts";
import type { RecordItem } from "../reading/item.ts";
import type { WireRecord } from "./wire-dialect.ts";

/** Hashes a text for comparison, not for naming. */
export function digestText(text: string): string {
  return computeFingerprint(text, 22);
}

/** Turns a piece into a record with a version, because clients rewrite earlier messages. */
export function toRecordItem(piece: WireRecord, more: Pick<RecordItem, "child" | "parent"> = {}): RecordItem {
  return { type: "record", ...piece, version: digestText(JSON.stringify(piece.body)), ...more };
}

const MAX_IDS = 100_000;

/** Makes repeated ids unique, for up to MAX_IDS of them; ids beyond it become positions. */
export class DistinctIds {
  readonly #uses = new Map<string, number>();

  /** Returns the piece, with another id if its own is taken. */
  makeDistinct(piece: WireRecord, place: string): WireRecord {
    const used = this.#uses.get(piece.id) ?? 0;
    if (used === 0 && this.#uses.size >= MAX_IDS)
      return { ...piece, id: piece.id === place ? place : `${place}:${piece.id}` };
    this.#uses.set(piece.id, used + 1);
    return used === 0 ? piece : { ...piece, id: `${piece.id}~${used + 1}` };
  }
}
