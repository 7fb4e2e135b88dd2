import { expect, test } from "vitest";
import {
  CALL_TRANSITIONS,
  type CallEvent,
  type CallState,
  type CallTransition,
} from "../../../../src/server/gateway/call/call-content.ts";

/** How often a sequence of events frees the thread and the window. */
function countFreed(events: readonly CallEvent[]) {
  let state: CallState = "open";
  let threads = 0;
  let windows = 0;
  for (const event of events) {
    const transition: CallTransition = CALL_TRANSITIONS[state][event];
    state = transition.next;
    if (transition.freesThread) threads++;
    if (transition.freesWindow) windows++;
  }
  return { threads, windows };
}

test("a call frees its thread and its window once, in whatever order its events come", () => {
  expect(countFreed(["answer", "end"])).toEqual({ threads: 1, windows: 1 });
  expect(countFreed(["answer", "answer", "end", "end"])).toEqual({ threads: 1, windows: 1 });
  expect(countFreed(["end", "answer", "end"])).toEqual({ threads: 1, windows: 1 });
});

test("a call that is answered but has not ended keeps its window", () => {
  expect(countFreed(["answer"])).toEqual({ threads: 1, windows: 0 });
});
