import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { EntryId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import { normalizeValue } from "../../model/sentences.ts";
import type { Memories } from "./memories.ts";
import { checkValidity, type Validity } from "./memory-trust.ts";
import type { StoredMemory } from "./stored-memory.ts";

const MAX_LISTED = 10_000;

/** New content of a memory. `null` removes a date; an absent field stays. */
export interface MemoryEdit {
  readonly text?: string;
  readonly from?: number | null;
  readonly until?: number | null;
}

/**
 * Changes a memory on behalf of a person. New dates keep the memory. A new text makes a new memory of the person at the
 * place of the old one, which is forgotten, so that agents cannot save the old text again.
 */
export async function editMemory(
  memories: Memories,
  which: EntryId,
  edit: MemoryEdit,
): Promise<StoredMemory> {
  checkFields("memories", memories, { remember: "function", forget: "function", move: "function" });
  const { text, from, until } = checkFields("edit", edit, { text: "text?" });
  const known = await memories.get(checkKind("memory", which, "text"));
  if (!known)
    throw new LonghaulError("ENTRY_NOT_FOUND", `There is no memory ${which}; memories.list() names them.`, {
      details: { id: which },
    });
  const dates = checkValidity({
    ...pickDate("from", from, known.from),
    ...pickDate("until", until, known.until),
  });
  if (text === undefined || text.trim() === known.text) return memories.setValidity(which, dates);
  const { source } = known;
  const [next] = await memories.list({ before: which, limit: 1, trust: "rejected", validAt: "ever" });
  const [first] = await memories.list({ limit: 1, trust: "rejected", validAt: "ever" });
  const save = async () => {
    const saved = await memories.remember(text, { by: "user", ...dropUndefined({ source }), ...dates });
    if (saved && first?.id !== which) await keepPlace(memories, saved.id, next?.id);
    if (saved) return saved;
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      "text is blank; expected the new text, or forget the memory.",
      {
        details: { option: "text" },
      },
    );
  };
  // Forgetting erases every memory with the same value, so the new one must not have it yet.
  if (normalizeValue(text) === normalizeValue(known.text)) {
    if (text.trim() === "") return save();
    await memories.forget(which);
    return save();
  }
  const saved = await save();
  await memories.forget(which);
  return saved;
}

/** Moves a memory above the neighbor that its predecessor had below it; one at the end goes below all others. */
async function keepPlace(memories: Memories, which: EntryId, next: EntryId | undefined): Promise<void> {
  if (next !== undefined) {
    // Forgetting the old value has erased a neighbor with the same one.
    if (await memories.get(next)) await memories.move(which, { above: next });
    return;
  }
  const all = await memories.list({ limit: MAX_LISTED, trust: "rejected", validAt: "ever" });
  const last = all.findLast(({ id }) => id !== which);
  if (last) await memories.move(which, { below: last.id });
}

function pickDate(
  name: "from" | "until",
  given: number | null | undefined,
  known: number | undefined,
): Partial<Validity> {
  const date = given === undefined ? known : given;
  return date === undefined || date === null ? {} : { [name]: date };
}
