import type { SqlValue } from "../connection/sql-values.ts";

/**
 * Many byte strings as three parameters: their starts, their sizes, and all bytes as one value, which is sent as it is;
 * an array of them would be sent as text of twice the size. `substr(bytes, start, size)` takes one out.
 */
export function packBytes(parts: readonly Uint8Array[]): readonly [SqlValue, SqlValue, SqlValue] {
  const starts: number[] = [];
  let at = 1;
  for (const { byteLength } of parts) {
    starts.push(at);
    at += byteLength;
  }
  return [starts, parts.map(({ byteLength }) => byteLength), Buffer.concat(parts)];
}
