import { expect, test } from "vitest";
import { Meter } from "../../../src/window/session/meter.ts";
import { testKernel } from "../../support/kernel.ts";

const MINUTE = 60_000;

test.each([
  ["gpt-5.6", 29, "hot"],
  ["gpt-5.6", 31, "cold"],
  ["claude-opus-5-5", 4, "hot"],
  ["claude-opus-5-5", 6, "cold"],
] as const)("the cache of %s is %s minutes after a request taken to be %s", async (model, minutes, state) => {
  let now = MINUTE;
  const kernel = await testKernel({ clock: { now: () => now } });
  const session = await kernel.session();
  const window = session.window({ model });
  await session.append({ role: "user", text: "Hello" });
  await window.fit();
  await session.append({ role: "assistant", text: "Hello to you." });
  await window.report({ inputTokens: 10, outputTokens: 5, cacheReadTokens: 5_000, cacheWriteTokens: 100 });
  await session.append({ role: "user", text: "And now?" });
  now += minutes * MINUTE;
  expect((await window.fit()).cache).toBe(state);
});

test("a cache whose lifetime is unknown is taken to last five minutes", () => {
  expect(new Meter("unknown").estimateCacheState([], { now: () => 0 })).toBe("unknown");
});
