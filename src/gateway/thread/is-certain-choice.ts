import type { ThreadCandidate } from "../identity/choose-thread.ts";
import type { ThreadLookup } from "./thread-lookup.ts";

/** The choice of an existing thread. */
interface ContinuedThread {
  readonly id: string;
  readonly keep: number;
}

/**
 * True if a request contains the whole line of the chosen thread and no reply that the line lacks. In any other case a
 * conversation that another gateway has begun may fit better.
 */
export function isCertainChoice(
  choice: ContinuedThread | undefined,
  candidates: readonly ThreadCandidate[],
  { roles }: Pick<ThreadLookup, "roles">,
): boolean {
  const line = candidates.find(({ id }) => id === choice?.id);
  return line?.keys.length === choice?.keep && !roles.slice(choice?.keep ?? 0).includes("assistant");
}
