import type { StoredChunk } from "./memory-store.ts";

/**
 * Collects neighbors by number: the chunks of a turn, and mostly of adjacent turns, have consecutive numbers. Where
 * another source lies in between, `read.turn` takes the turns beyond it, which the index finds.
 */
export function collectNear(
  read: {
    readonly chunk: (number: number) => StoredChunk | undefined;
    readonly turn: (source: number, turn: number) => void;
  },
  number: number,
  reach: number,
  limit: number,
  found: Map<number, StoredChunk>,
): void {
  const own = read.chunk(number);
  if (!own) return;
  found.set(number, own);
  for (const step of [-1, 1]) {
    let reached = 0;
    for (let at = number + step; Math.abs(at - number) <= limit; at += step) {
      const next = read.chunk(at);
      if (next?.source !== own.source) {
        for (let distance = reached + 1; distance <= reach; distance++)
          read.turn(own.source, own.turn + distance * step);
        break;
      }
      const distance = Math.abs(next.turn - own.turn);
      if (distance > reach) break;
      reached = distance;
      found.set(at, next);
    }
  }
}
