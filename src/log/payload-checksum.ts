import { crc32 } from "node:zlib";
import type { EntryKind } from "../model/entry.ts";

/** CRC-32 of a packed body, seeded with packing and entry kind, so that a change of either changes the checksum. */
export function computePayloadChecksum(body: Uint8Array, packing: number, kind: EntryKind): number {
  return crc32(body, computeSeed(packing, kind));
}

const seeds = new Map<EntryKind, number[]>();

function computeSeed(packing: number, kind: EntryKind): number {
  let own = seeds.get(kind);
  if (!own) {
    own = [];
    seeds.set(kind, own);
  }
  own[packing] ??= crc32(`${packing} ${kind}`);
  return own[packing];
}
