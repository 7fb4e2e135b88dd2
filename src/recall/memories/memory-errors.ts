import type { EntryId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { RefusalReason } from "./memory-ledger.ts";

/** The ENTRY_NOT_FOUND error for a memory. */
export function createMemoryNotFound(agent: string, which: EntryId): LonghaulError {
  return new LonghaulError(
    "ENTRY_NOT_FOUND",
    `There is no memory ${which} of ${JSON.stringify(agent)}; memories.list() names those there are.`,
    { details: { id: which } },
  );
}

/** The MEMORY_REFUSED error for a value that was forgotten or rejected. */
export function createMemoryRefusal(agent: string, reason: RefusalReason): LonghaulError {
  return new LonghaulError(
    "MEMORY_REFUSED",
    `A memory with this value was ${reason}, so only the user can have it remembered again, with "longhaul remember" or by: "user".`,
    { details: { agent, reason } },
  );
}
