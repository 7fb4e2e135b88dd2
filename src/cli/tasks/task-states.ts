import { isTerminal, TASK_STATES, type TaskState } from "../../index.ts";
import { nearestWords } from "../nearest-words.ts";
import { UsageError } from "../usage-error.ts";

/** States of tasks that have not ended. */
export const ACTIVE_STATES: readonly TaskState[] = TASK_STATES.filter((state) => !isTerminal(state));
/** States of tasks that have ended. */
export const ENDED_STATES: readonly TaskState[] = TASK_STATES.filter(isTerminal);

/** Parses a comma-separated list of states; throws UsageError with the nearest state. */
export function parseStatesOption(text: string): readonly TaskState[] {
  return text.split(",").map((word) => {
    const state = TASK_STATES.find((one) => one === word.trim());
    if (state) return state;
    const [nearest] = nearestWords(word, TASK_STATES);
    const hint = nearest === undefined ? `expected ${TASK_STATES.join(", ")}` : `did you mean ${nearest}?`;
    throw new UsageError(`--state is ${JSON.stringify(word)}; ${hint}`);
  });
}
