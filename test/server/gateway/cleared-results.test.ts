import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { behave, startUpstream } from "../../support/upstream.ts";

const CLEARED = "[Old tool result content cleared]";
const MASKED = `<tool_output_masked>\n${"The first and the last lines. ".repeat(20)}\n</tool_output_masked>`;
const WAYS = [
  ["anthropic", CLEARED],
  ["openai-chat", CLEARED],
  ["openai-responses", CLEARED],
  ["google", MASKED],
] as const;

/** Replaces the texts of all results but the last few, as clients do to save space. */
function clearResults(agent: TestAgent, kept: number, mark: string): void {
  const isResult = (element: object) =>
    /tool_result|"role":"tool"|function_call_output|functionResponse/.test(JSON.stringify(element));
  const results = agent.elements.filter(isResult);
  for (const element of results.slice(0, -kept)) {
    const text = JSON.stringify(element).replaceAll(
      /content of file \d+( \d+)*/g,
      JSON.stringify(mark).slice(1, -1),
    );
    Object.assign(element, JSON.parse(text));
  }
}

test.each(WAYS)(
  "a client of %s that clears old tool results stays in its conversation, even after a restart",
  async (api, mark) => {
    let calls = 0;
    const upstream = await startUpstream((heard, response) => {
      const id = `call_${crypto.randomUUID().replaceAll("-", "")}`;
      const call = { id, name: "read", input: { path: `f${calls++}` } };
      behave(heard, response, { type: "reply", reply: { text: `Step ${calls}.`, toolCalls: [call] } });
    });
    let gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    let reply = await agent.say("Read the files.");
    for (let turn = 0; turn < 12; turn++) {
      reply = await agent.hand(reply.calls, `content of file ${turn} ${`${turn} `.repeat(40).trim()}`);
      if (turn === 5) clearResults(agent, 2, mark);
      if (turn !== 8) continue;
      clearResults(agent, 2, mark);
      await gateway.close();
      gateway = await startGateway({ upstream: upstream.url, path: gateway.path });
      agent.gateway = gateway;
    }
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(1);
    const log = await logOf(await gateway.kernel.session(threads[0]?.id));
    const texts = log.map(({ message }) => JSON.stringify(message.parts));
    for (let turn = 0; turn < 12; turn++)
      expect(texts.filter((text) => text.includes(`content of file ${turn} `))).toHaveLength(1);
    expect(upstream.heard.at(-1)?.body.toString()).toContain(mark.slice(0, 20));
  },
);

test("a tool result that the client changes after going back is stored as well", async () => {
  const call = { id: "call_0123456789abcdef", name: "read", input: { path: "a" } };
  const upstream = await startUpstream((heard, response, index) =>
    behave(heard, response, {
      type: "reply",
      reply: index === 0 ? { text: "", toolCalls: [call] } : { text: "Fine." },
    }),
  );
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  const { calls } = await agent.say("Read it.");
  await agent.hand(calls, "first result");
  agent.elements = agent.elements.slice(0, 2);
  await agent.hand(calls, "second result");
  const [thread] = await threadsOf(gateway);
  const log = JSON.stringify(
    (await logOf(await gateway.kernel.session(thread?.id))).map(({ message }) => message),
  );
  expect([log.includes("first result"), log.includes("second result")]).toEqual([true, true]);
});
