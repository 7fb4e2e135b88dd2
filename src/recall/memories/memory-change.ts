import type { Entry, RawBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Validity } from "./memory-trust.ts";
import type { ValueKey } from "./value-key.ts";

/** A change to a memory: an entry of the session that holds the memory. `of` is the memory's seq. */
export type MemoryChange = { readonly by: "user" | "agent" } & (
  | { readonly change: "accepted"; readonly of: number }
  /** `sentences` are the keys of the longer sentences of the value, which must not come back either. */
  | {
      readonly change: "rejected" | "forgotten";
      readonly of: number;
      readonly key: ValueKey;
      readonly sentences?: readonly ValueKey[];
    }
  | ({ readonly change: "dated"; readonly of: number } & Validity)
  /** The memory has another place in the order; see memory-order.ts. */
  | { readonly change: "moved"; readonly of: number; readonly rank: number }
  /** A user's memory made a forgotten or rejected value welcome again. */
  | { readonly change: "restored"; readonly keys: readonly ValueKey[] }
);

const FORMAT = "longhaul.memory";
const CHANGES: readonly unknown[] = ["accepted", "rejected", "forgotten", "dated", "moved", "restored"];

/** A change as the body of an entry. */
export function toChangeBody(change: MemoryChange): RawBody {
  return { kind: "raw", format: FORMAT, value: change as unknown as Json };
}

/** The change that an entry holds; undefined for any other entry. */
export function parseMemoryChange(entry: Entry): MemoryChange | undefined {
  if (entry.kind !== "raw" || entry.format !== FORMAT) return undefined;
  const { value } = entry;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return CHANGES.includes((value as Readonly<Record<string, unknown>>).change)
    ? (value as unknown as MemoryChange)
    : undefined;
}
