import { expect, test } from "vitest";
import { runHealLoop } from "../../../src/kernel/calls/call-window.ts";

/** A loop whose first `refusals` tries are refused and that can be healed `heals` times. */
function startLoop(refusals: number, heals: number) {
  let sent = 0;
  let healed = 0;
  const discarded: number[] = [];
  const done = runHealLoop<number, string>({
    send: async () => ({ answer: ++sent, ...(sent <= refusals && { refusal: "too long" }) }),
    heal: async () => healed++ < heals,
    discard: (answer) => discarded.push(answer),
  });
  return { done, discarded };
}

test("A call that is accepted at once is sent once.", async () => {
  const { done, discarded } = startLoop(0, 4);
  expect(await done).toEqual({ answer: 1 });
  expect(discarded).toEqual([]);
});

test("A refused call is sent again until it is accepted, and refused answers are freed.", async () => {
  const { done, discarded } = startLoop(2, 4);
  expect(await done).toEqual({ answer: 3 });
  expect(discarded).toEqual([1, 2]);
});

test("A call that cannot be healed any further keeps its last refusal and its answer.", async () => {
  const { done, discarded } = startLoop(9, 1);
  expect(await done).toEqual({ answer: 2, refusal: "too long" });
  expect(discarded).toEqual([1]);
});
