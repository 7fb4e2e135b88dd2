import { expect, test } from "vitest";
import { testKernel } from "../../support/kernel.ts";
import { SMALL, work } from "./history.ts";

test("the memories of an agent are sent with the prompt, count as tokens, and are hidden from other agents", async () => {
  const kernel = await testKernel();
  const session = await kernel.session();
  await work(session, 3);
  const window = session.window({ ...SMALL, memories: "helper" });
  const before = await window.fit();
  expect(before.memories).toBeUndefined();
  await kernel.memories("helper").remember("  The user writes tabs, never spaces. ", { by: "user" });
  await kernel.memories("other").remember("Something else.", { by: "user" });
  const { memories, tokens, parts } = await window.fit();
  expect(memories).toContain("user| The user writes tabs, never spaces.");
  expect(memories).not.toContain("Something else.");
  expect(tokens).toBeGreaterThan(before.tokens);
  expect(parts.memories).toBeGreaterThan(0);
  await work(session, 60, 100);
  const cut = await window.fit();
  expect(cut.tokens).toBeLessThanOrEqual(cut.limits.most);
  expect(cut.memories).toBe(memories);
});
