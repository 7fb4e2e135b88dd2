import { expect, test } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { behave, type Heard, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

const blocksOf = ({ json }: Heard) =>
  (json.messages as readonly WireObject[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly WireObject[]) : [],
  );
const refusal = (message: string) =>
  JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });

test("an overflow that returns within one turn is healed three times, even across a restart, and then reaches the client", async () => {
  let calls = 0;
  const upstream = await startUpstream((heard, response) => {
    const results = blocksOf(heard).filter(({ type }) => type === "tool_result").length;
    if (results >= 2)
      return behave(heard, response, {
        type: "error",
        kind: "overflow",
        status: 400,
        body: refusal("prompt is too long: 201234 tokens > 200000 maximum"),
      });
    const call = { id: `toolu_${calls++}`, name: "Write", input: { path: "out.txt" } };
    behave(heard, response, { type: "reply", reply: { text: "Next step.", toolCalls: [call] } });
  });
  let gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  agent.elements.push(...agent.words("Read the notes and write the result."));
  let answer = await agent.send();
  let rounds = 0;
  for (; answer.status === 200 && rounds < 30; rounds++) {
    if (rounds === 3) {
      await gateway.close();
      gateway = await startGateway({ upstream: upstream.url, path: gateway.path });
      agent.gateway = gateway;
    }
    const reply = agent.read(answer.text);
    agent.elements.push(...reply.elements, ...agent.results(reply.calls, ["done, 12 bytes"]));
    answer = await agent.send();
  }
  expect([answer.status, answer.text]).toEqual([
    400,
    refusal("prompt is too long: 201234 tokens > 200000 maximum"),
  ]);
  expect(upstream.heard.length).toBeLessThanOrEqual(20);
  expect(rounds).toBeGreaterThan(3);
});

sizedTest(
  "a call of a provider's own tool and its result in a later message stay or leave together",
  async () => {
    let reply: readonly WireObject[] = [];
    const torn: unknown[] = [];
    const upstream = await startUpstream((heard, response) => {
      const called = new Set<unknown>();
      for (const block of blocksOf(heard)) {
        if (block.type === "server_tool_use") called.add(block.id);
        if (block.type === "code_execution_tool_result" && !called.delete(block.tool_use_id))
          torn.push(block);
      }
      for (const id of [...called].slice(0, -1)) torn.push(id);
      response.writeHead(200, { "content-type": "application/json" });
      const usage = { input_tokens: Math.ceil(heard.body.length / 3.2), output_tokens: 20 };
      const frame = { id: `msg_${upstream.heard.length}`, type: "message", role: "assistant", model: "m" };
      response.end(JSON.stringify({ ...frame, content: reply, stop_reason: "end_turn", usage }));
    });
    for (const policy of proofCases(["longhaul", "cline", "openclaw"])) {
      const gateway = await startGateway({
        upstream: [{ name: "up", baseUrl: upstream.url, apis: ["anthropic"], window: 32_000 }],
        config: { policy },
      });
      const agent = new TestAgent(gateway);
      const send = async (content: readonly WireObject[]) => {
        reply = content;
        expect((await agent.send()).status).toBe(200);
        agent.elements.push({ role: "assistant", content });
      };
      for (let turn = 0; turn < 30; turn++) {
        const [server, client] = [`srvtoolu_${policy}_${turn}`, `toolu_${policy}_${turn}`];
        const code = { code: `await query(${turn})` };
        agent.elements.push({ role: "user", content: `Question ${turn}: what does table ${turn} say?` });
        await send([
          { type: "server_tool_use", id: server, name: "code_execution", input: code },
          { type: "tool_use", id: client, name: "query", input: { turn } },
        ]);
        const content = output(turn, 6_000);
        agent.elements.push({
          role: "user",
          content: [{ type: "tool_result", tool_use_id: client, content }],
        });
        const result = { type: "code_execution_result", stdout: `sum ${turn}`, stderr: "", return_code: 0 };
        await send([
          { type: "code_execution_tool_result", tool_use_id: server, content: result },
          { type: "text", text: `The sum of table ${turn} is ${turn}.` },
        ]);
      }
      expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(agent.body()).length);
      await gateway.close();
    }
    expect(torn).toEqual([]);
  },
);

test("an edit that the provider refuses for a torn pair is reverted at once and logged as longhaul's own defect", async () => {
  let isStrict = false;
  const upstream = await startUpstream((heard, response) => {
    const isEdited = heard.body.includes(" left out: ");
    const message = "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_20";
    if (isStrict && isEdited)
      return behave(heard, response, {
        type: "error",
        kind: "overflow",
        status: 400,
        body: refusal(message),
      });
    behave(heard, response, { type: "reply", reply: { text: "Fine.", usage: { input: 20_000, output: 5 } } });
  });
  const gateway = await startGateway({
    upstream: [{ name: "up", baseUrl: upstream.url, apis: ["anthropic"], window: 200_000 }],
    config: { threshold: 20 },
  });
  const agent = new TestAgent(gateway);
  agent.elements.push({ role: "user", content: "Begin." });
  agent.elements.push({ role: "assistant", content: "The first answer." });
  for (let step = 0; step < 40; step++) {
    const id = `call_${step}`;
    agent.elements.push({ role: "user", content: `Question ${step}` });
    agent.elements.push({
      role: "assistant",
      content: [{ type: "tool_use", id, name: "read", input: { step } }],
    });
    agent.elements.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: output(step, 8_000) }],
    });
    agent.elements.push({ role: "assistant", content: `${step} ${"words of an answer ".repeat(60)}` });
  }
  isStrict = true;
  expect((await agent.say("And now?")).text).toBe("Fine.");
  const messages = upstream.heard.at(-1)?.json.messages;
  expect(JSON.stringify(messages)).not.toContain(" left out: ");
  const defects = gateway.logged.filter(({ event }) => event === "defect");
  expect(defects).toHaveLength(1);
  expect(defects[0]).toMatchObject({ level: "error", message: expect.stringContaining("call_20") });
});
