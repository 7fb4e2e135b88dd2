import type { UsageBody } from "../../model/entry.ts";
import { toObject } from "../../wire/fields.ts";
import type { InputChange } from "../../wire/wire.ts";

/** Number of changes of each kind and reason that a provider made to a request, and the place of the first. */
type InputChangeCount = {
  readonly type: string;
  readonly reason: string;
  readonly count: number;
  readonly path: string;
};

const DROPPED = "thinking_dropped";
/** Types and reasons are names; a longer text is none. */
const MAX_CHARACTERS = 100;

/** The changes of a request in the form that is stored with its usage. */
export function countInputChanges(changes: readonly InputChange[]): InputChangeCount[] {
  const groups = Map.groupBy(changes, ({ type, reason = "" }) => `${type} ${reason}`);
  return [...groups.values()].slice(0, 10).map((group) => {
    const [{ type, reason = "", path = "" }] = group as [InputChange];
    const [name, why, place] = [type, reason, path].map((text) =>
      text.slice(0, MAX_CHARACTERS).toWellFormed(),
    );
    return { type: name as string, reason: why as string, count: group.length, path: place as string };
  });
}

/** Number of blocks of reasoning that the provider did not show to the model. */
export function countDroppedThinking(changes: readonly InputChange[]): number {
  return changes.filter(({ type }) => type === DROPPED).length;
}

/** The same number from a stored usage report. */
export function readDroppedThinking({ meta }: Pick<UsageBody, "meta">): number {
  const { inputChanges } = meta ?? {};
  if (!Array.isArray(inputChanges)) return 0;
  return inputChanges.map(toObject).reduce((sum, one) => {
    const { type, count } = one ?? {};
    return type === DROPPED && typeof count === "number" ? sum + count : sum;
  }, 0);
}
