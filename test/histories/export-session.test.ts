import { expect, test } from "vitest";
import { createExportedSession } from "../../src/histories/export-session.ts";
import { testKernel } from "../support/kernel.ts";

test("an export has all sub-agents of a conversation with more than a page of them", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const session = await kernel.session("a");
  await session.append({ role: "user", text: "Ask many agents." });
  for (let agent = 0; agent < 101; agent++) await session.child({ id: `a/agent-${agent}` });
  const exported = await createExportedSession(kernel, "a");
  const found: string[] = [];
  for await (const { record } of exported.children()) found.push(record.id);
  expect(found).toHaveLength(101);
});
