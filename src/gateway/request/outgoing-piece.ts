import type { WireObject } from "../../wire/wire.ts";

/** A run of outgoing elements: a slice of the received body, or newly written elements. */
export type OutgoingPiece =
  | { readonly from: number; readonly to: number }
  /** `index` is that of the client's first element that they replace, if any. */
  | { readonly elements: readonly WireObject[]; readonly index?: number };
