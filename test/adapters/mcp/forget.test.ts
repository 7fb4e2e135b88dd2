import { expect, test } from "vitest";
import { testKernel } from "../../support/kernel.ts";
import { connectHttp, serveEndpoint } from "./connected.ts";

const TEXT = "The key of the archive is under the third stone.";

async function openForget(answer: { action: "accept" | "decline"; content?: Record<string, boolean> }) {
  const kernel = await testKernel();
  await using session = await kernel.session("chat");
  await session.append({ role: "user", text: TEXT });
  const asked: string[] = [];
  const onQuestion = (message: string) => {
    asked.push(message);
    return answer;
  };
  const { call } = await connectHttp(await serveEndpoint(kernel), { era: "2026", onQuestion });
  const read = async () => (await call("expand", { cite: "chat#1" })).text;
  return { call, asked, read };
}

test("a client that can ask its user confirms within the same call", async () => {
  const { call, asked, read } = await openForget({ action: "accept", content: { forget: true } });
  expect((await call("forget", { cite: "chat#1" })).text).toBe("Forgotten: chat#1.");
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("third stone");
  expect(await read()).toBe("chat#1 was removed on request.");
});

test("nothing is forgotten if the user declines or accepts without ticking the box", async () => {
  for (const answer of [
    { action: "decline" as const },
    { action: "accept" as const, content: { forget: false } },
  ]) {
    const { call, read } = await openForget(answer);
    expect((await call("forget", { cite: "chat#1" })).text).toBe(
      "Nothing was forgotten: the user did not agree.",
    );
    expect(await read()).toContain("third stone");
  }
});

test("an answer to a question that was never asked forgets nothing", async () => {
  const kernel = await testKernel();
  await using session = await kernel.session("chat");
  await session.append({ role: "user", text: TEXT });
  const url = await serveEndpoint(kernel);
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "forget",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "forget",
        arguments: { cite: "chat#1" },
        inputResponses: { confirm: { action: "accept", content: { forget: true } } },
        requestState: "0123456789",
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
        },
      },
    }),
  });
  expect(await response.text()).toContain("The question is too old; call forget again.");
  const [entry] = await kernel.memory.expand("chat#1", { around: 0 });
  expect(entry?.kind).toBe("message");
});
