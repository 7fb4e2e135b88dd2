import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { lineOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

/** Calls other than function calls: the model's item and the client's result. */
const KINDS: Readonly<Record<string, readonly [(id: string) => WireObject, (text: string) => WireObject]>> = {
  "a call of a kind nobody knows yet": [
    (id) => ({ type: "future_call", id: `fu_${id}`, call_id: id, plan: "far" }),
    (text) => ({ type: "future_call_output", output: text }),
  ],
  "a call of a computer": [
    (id) => ({ type: "computer_call", id: `cu_${id}`, call_id: id, action: { type: "screenshot" } }),
    (text) => ({ type: "computer_call_output", output: { type: "computer_screenshot", image_url: text } }),
  ],
  "a call of a computer that shows a large picture": [
    (id) => ({ type: "computer_call", id: `cu_${id}`, call_id: id, action: { type: "screenshot" } }),
    (text) => ({
      type: "computer_call_output",
      output: { type: "computer_screenshot", image_url: `data:image/png;base64,${btoa(text.repeat(13))}` },
    }),
  ],
  "a request for approval": [
    (id) => ({ type: "mcp_approval_request", id, name: "do", server_label: "box", arguments: "{}" }),
    (reason) => ({ type: "mcp_approval_response", approve: true, reason }),
  ],
};

const idOf = (item: WireObject) => item.call_id ?? item.approval_request_id;

/** A provider that replies with generated items. */
function saying(items: (index: number) => readonly WireObject[]) {
  return startUpstream((heard, response, index) => {
    const tokens = Math.ceil(heard.body.length / 4);
    const usage = { input_tokens: tokens, output_tokens: 5, total_tokens: tokens + 5 };
    const made = items(index);
    const body = { id: `resp_${index}`, object: "response", status: "completed", output: made, usage };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
}

describe("calls that only one format knows", () => {
  sizedTest.each(proofCases(Object.entries(KINDS), 2))(
    "a call of kind %s leaves the window together with its answer",
    async (_, [call, answer]) => {
      const upstream = await saying((index) => [call(`id_${index}`)]);
      const gateway = await startGateway({
        upstream: upstream.url,
        config: { models: { "gpt-4.1": { window: 40_000 } } },
      });
      const agent = new TestAgent(gateway, "openai-responses");
      agent.fields.stream = false;
      agent.elements.push({ role: "user", content: "Work." });
      for (let turn = 0; turn < 40; turn++) {
        const { output: items } = JSON.parse((await agent.send()).text);
        const id = items[0].call_id ?? items[0].id;
        const own = items[0].call_id === undefined ? { approval_request_id: id } : { call_id: id };
        agent.elements.push(...items, { ...answer(output(turn, 5_000)), ...own });
        const sent = upstream.heard.at(-1)?.json.input as readonly WireObject[];
        const isAnswer = ({ type }: WireObject) => /_output$|_response$/.test(String(type));
        const calls = sent
          .filter((item) => item.type === items[0].type)
          .map((item) => item.call_id ?? item.id);
        expect(sent.filter(isAnswer).map(idOf)).toEqual(calls);
      }
      expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(agent.body()).length / 2);
    },
  );

  test("a tool that the provider runs itself gives one reply with its output, in one session", async () => {
    const upstream = await saying((index) => [
      { type: "tool_search_call", id: `ts_${index}`, call_id: null, execution: "server", arguments: {} },
      { type: "tool_search_output", id: `to_${index}`, call_id: null, execution: "server", tools: [] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: `Found ${index}.` }] },
    ]);
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, "openai-responses");
    agent.fields.stream = false;
    for (let turn = 0; turn < 4; turn++) {
      agent.elements.push({ role: "user", content: `Step ${turn}.` });
      agent.elements.push(...JSON.parse((await agent.send()).text).output);
    }
    const [main, ...others] = await threadsOf(gateway);
    expect(others).toEqual([]);
    expect(await lineOf(await gateway.kernel.session(main?.id))).toHaveLength(8);
  });
});
