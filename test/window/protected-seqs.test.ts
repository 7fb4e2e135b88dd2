import { expect, test } from "vitest";
import { findProtectedSeqs } from "../../src/window/protected-seqs.ts";
import { call, image, result, say, windowOf } from "./passes/windows.ts";

test("system messages, the first message of the user, the last group, the latest reply with its results and pins are protected", () => {
  const slots = windowOf(
    ...[say("system", "rules"), say("assistant", "hello"), say("user", "task"), say("assistant", "ok")],
    ...[say("user", "more"), call("1", "bash", {}), result("1", "done"), say("user", "and?")],
  );
  expect([...findProtectedSeqs(slots)].toSorted()).toEqual([1, 3, 6, 7, 8]);
  expect(findProtectedSeqs(slots, new Set([4]))).toContain(4);
});

test("tool results in the user's name do not count as the first message of the user", () => {
  const results = { ...result("1", "done"), role: "user" } as const;
  const shown = { role: "user", parts: [...results.parts, image(10)] } as const;
  const slots = windowOf(
    call("1", "bash", {}),
    results,
    call("2", "bash", {}),
    shown,
    say("assistant", "ok"),
  );
  expect([...findProtectedSeqs(slots)].toSorted()).toEqual([4, 5]);
});

test("the protected messages of a window are computed again when it grows", () => {
  const slots = [...windowOf(say("user", "task"), say("assistant", "one"))];
  expect([...findProtectedSeqs(slots)]).toEqual([1, 2]);
  slots.push({ ...(windowOf(say("assistant", "two"))[0] as (typeof slots)[number]), seq: 3 });
  expect([...findProtectedSeqs(slots)]).toEqual([1, 3]);
});
