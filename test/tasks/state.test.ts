import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal, TASK_EVENTS, TASK_STATES, type TaskState } from "../../src/model/task.ts";
import { isEnding, MOVES } from "../../src/tasks/journal.ts";

const stateAfter = (state: TaskState, event: (typeof TASK_EVENTS)[number]): TaskState => {
  const move = MOVES[state][event];
  return move === "stay" || move === "refuse" ? state : move;
};

describe("the life of a task", () => {
  test("every event has a meaning in every state", () => {
    for (const state of TASK_STATES)
      expect(Object.keys(MOVES[state]).sort()).toEqual([...TASK_EVENTS].sort());
  });

  test("an ended task stays ended, whatever happens", () => {
    const events = fc.array(fc.constantFrom(...TASK_EVENTS), { maxLength: 30 });
    fc.assert(
      fc.property(events, (happening) => {
        let state: TaskState = "queued";
        let end: TaskState | undefined;
        for (const event of happening) {
          state = stateAfter(state, event);
          if (end) expect(state).toBe(end);
          if (isTerminal(state)) end ??= state;
        }
      }),
    );
  });

  test("a kill ends a task in any state and is not an error afterwards", () => {
    for (const state of TASK_STATES) {
      if (isTerminal(state)) expect(MOVES[state].kill).toBe("stay");
      else expect(MOVES[state].kill).toBe("killed");
    }
  });

  test("every state can be reached, and every state can reach an end", () => {
    const reached = new Set<TaskState>(["queued"]);
    for (const state of reached) for (const event of TASK_EVENTS) reached.add(stateAfter(state, event));
    expect([...reached].sort()).toEqual([...TASK_STATES].sort());
    for (const state of TASK_STATES)
      expect(isTerminal(state) || TASK_EVENTS.some((event) => isEnding(MOVES[state][event]))).toBe(true);
  });
});
