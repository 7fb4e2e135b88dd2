import type { SourceSelection } from "../../../../log/store/index-server.ts";
import type { SqlValue } from "../../connection/sql-values.ts";

/** Up to so many sources are named one by one, so that the server can use their index; more are sent as bits. */
const MAX_NAMED = 1_000;

/** A condition on a column of source numbers, with its parameter; `place` is the number of that parameter. */
export function buildSourceCondition(
  filter: SourceSelection,
  column: string,
  place: number,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  if (!filter) return { sql: "true", values: [] };
  const numbers: number[] = [];
  for (let number = 0; number < filter.length && numbers.length <= MAX_NAMED; number++)
    if (filter[number] === 1) numbers.push(number);
  if (numbers.length <= MAX_NAMED) return { sql: `${column} = ANY($${place}::bigint[])`, values: [numbers] };
  const bits = new Uint8Array(Math.ceil(filter.length / 8));
  for (let number = 0; number < filter.length; number++)
    if (filter[number] === 1) bits[number >> 3] = (bits[number >> 3] as number) | (1 << (number & 7));
  return {
    sql: `CASE WHEN ${column} < 8 * length($${place}::bytea) THEN get_bit($${place}::bytea, ${column}) = 1 ELSE false END`,
    values: [bits],
  };
}
