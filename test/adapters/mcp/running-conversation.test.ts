import { expect, test } from "vitest";
import { isNamedSession } from "../../../src/model/session-key.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { connectHttp, serveEndpoint } from "./connected.ts";

const QUERY = "where does the ferry land in autumn";

async function openFerry(caller: object = {}) {
  const kernel = await testKernel();
  await using earlier = await kernel.session("earlier");
  await earlier.append({ role: "user", text: "The ferry lands at the north pier in autumn." });
  const running = await kernel.session("local/claude-code:abc");
  await running.append({
    role: "user",
    text: "Tell me where the ferry lands in autumn; I heard south quay.",
  });
  const { call } = await connectHttp(await serveEndpoint(kernel, caller), { era: "2025" });
  return { call, running };
}

proofTest("a recall leaves out the conversation that made the call, and mentions the omission", async () => {
  const { call, running } = await openFerry();
  await running.append({
    role: "assistant",
    parts: [{ type: "tool-call", callId: "call_1", name: "mcp__longhaul__recall", input: { query: QUERY } }],
  });
  const { text } = await call("recall", { query: QUERY });
  expect(text).toContain("north pier");
  expect(text).not.toContain("south quay");
  expect(text).toContain('Left out: the running conversation; where: "everywhere" includes them.');
  expect((await call("recall", { query: QUERY, where: "everywhere" })).text).toContain("south quay");
});

test("a recall searches a conversation that did not make the call", async () => {
  const { call } = await openFerry();
  const { text } = await call("recall", { query: QUERY });
  expect(text).toContain("south quay");
  expect(text).not.toContain("Left out");
});

test("a caller may name its running conversation by longhaul's id or by the client's id", async () => {
  const { call } = await openFerry({ session: "abc" });
  const { text } = await call("recall", { query: QUERY });
  expect(text).toContain("north pier");
  expect(text).not.toContain("south quay");
  expect(text).toContain("Left out: the running conversation");
  expect(isNamedSession("local/claude-code:abc", "local/claude-code:abc")).toBe(true);
  expect(isNamedSession("local/claude-code:abc", "bc")).toBe(false);
});
