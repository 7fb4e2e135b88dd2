import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { readMemoryEntries } from "./memory-history.ts";
import { parseRememberedFact, type RememberedFact } from "./remembered-fact.ts";
import { normalizeValue } from "./value-key.ts";

/** Memories with the same value as a text, or all without a text, in whatever state; newest first. */
export async function listSameMemories(
  log: Log,
  session: SessionId,
  text?: string,
): Promise<readonly RememberedFact[]> {
  const value = text === undefined ? undefined : normalizeValue(text);
  const same: RememberedFact[] = [];
  if (!(await log.store.sessions.get(session))) return same;
  for await (const entry of readMemoryEntries(log, session, ["message"])) {
    const memory = parseRememberedFact(entry);
    if (memory && (value === undefined || normalizeValue(memory.text) === value)) same.push(memory);
  }
  return same;
}
