import { describe, expect, test } from "vitest";
import { findViolations } from "../../../src/server/gateway/outgoing/check-rules.ts";
import { RECALL_TOOL } from "../../../src/server/gateway/recall/recall-tools.ts";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { ask, quiet, startGateway, threadsOf } from "../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../support/people.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, startUpstream, type Upstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";
import { working } from "./long-session.ts";

const COUNT = "/v1/messages/count_tokens";

/** A provider that counts four bytes as a token, and reports that with every reply. */
function counting(): Promise<Upstream> {
  let turn = 0;
  return startUpstream((heard, response) => {
    const tokens = Math.ceil(heard.body.length / 4);
    if (heard.url.startsWith(COUNT))
      response.writeHead(200, { "content-type": "application/json" }).end(`{"input_tokens":${tokens}}`);
    else {
      const usage = { input: tokens, cacheRead: 0, cacheWrite: 0, output: 50 };
      behave(heard, response, { type: "reply", reply: { ...working(++turn), usage } });
    }
  });
}

async function workedOn(fields: object = {}, config: object = {}) {
  const upstream = await counting();
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { models: { "claude-sonnet-4-5": { window: 64_000 } }, ...config },
  });
  const agent = new TestAgent(gateway);
  Object.assign(agent.fields, fields);
  let reply = await agent.say("Go through all files.");
  for (let turn = 1; turn < 60; turn++) reply = await agent.hand(reply.calls, output(turn, 6_000));
  await quiet(gateway);
  const last = upstream.heard.at(-1)?.body.length ?? 0;
  const results = reply.calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "Done." }));
  const messages = [...agent.elements, { role: "user", content: results }];
  const { max_tokens: _, stream: __, ...rest } = agent.body();
  return { upstream, gateway, last, body: { ...rest, messages } };
}

/** Messages with cache markers at the end of the last four user messages. */
function marked(elements: readonly WireObject[]): WireObject[] {
  const users = elements.filter(({ role }) => role === "user").slice(-4);
  return elements.map((element) => {
    if (!users.includes(element)) return element;
    const content = element.content as readonly WireObject[];
    return {
      ...element,
      content: content.with(-1, { ...content.at(-1), cache_control: { type: "ephemeral" } }),
    };
  });
}

/** A body to count, and the fields that the upstream heard with the count and with the call. */
async function compareWithCall(agent: TestAgent, upstream: Upstream) {
  const { max_tokens: _, stream: __, ...body } = agent.body();
  await ask(agent.gateway, { path: COUNT, body });
  const counted = upstream.heard.at(-1)?.json;
  await agent.next();
  const { max_tokens: ___, stream: ____, ...called } = upstream.heard.at(-1)?.json ?? {};
  return { counted, called };
}

const MEMORY = "Answer in German.";

describe("a count of tokens with the gateway's additions", () => {
  test.each([{}, { recall: "always" }, { memories: false }, { policy: "none" }, { dryRun: true }])(
    "a count of tokens includes what the gateway adds to the call, from the first request on: %j",
    async (config) => {
      const upstream = await counting();
      const gateway = await startGateway({ upstream: upstream.url, config });
      await gateway.kernel.memories().remember(MEMORY, { by: "user" });
      const agent = new TestAgent(gateway);
      agent.fields.system = "You are an agent.";
      for (const text of ["Hello.", "And now?"]) {
        agent.elements.push({ role: "user", content: text });
        const { counted, called } = await compareWithCall(agent, upstream);
        expect(counted).toEqual(called);
        const isSilent = "memories" in config || "policy" in config || "dryRun" in config;
        expect(JSON.stringify(counted.system).includes(MEMORY)).toBe(!isSilent);
        expect(JSON.stringify(counted.tools).includes(RECALL_TOOL)).toBe("recall" in config);
        agent.elements.push({ role: "assistant", content: "Fine." });
      }
    },
  );

  proofTest("a count of tokens includes the recall tools that came with an edit", async () => {
    const { upstream, gateway, body } = await workedOn();
    await gateway.kernel.memories().remember(MEMORY, { by: "user" });
    await ask(gateway, { path: COUNT, body });
    const { tools, system, messages } = upstream.heard.at(-1)?.json ?? {};
    await ask(gateway, { path: "/v1/messages", body: { ...body, max_tokens: 100 } });
    const called = upstream.heard.at(-1)?.json ?? {};
    expect(JSON.stringify(tools)).toContain(RECALL_TOOL);
    expect({ tools, system }).toEqual({ tools: called.tools, system: called.system });
    expect(JSON.stringify(system)).toContain(MEMORY);
    expect(messages.at(-1)).toEqual(called.messages.at(-1));
  });

  test("a count of a mere text includes no memories, and no count includes another person's memories", async () => {
    const upstream = await counting();
    const gateway = await startGateway({ upstream: upstream.url, config: TWO_PEOPLE });
    await gateway.kernel.memories("gateway:@alice").remember(MEMORY, { by: "user" });
    const text = { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "Some file." }] };
    for (const [token, system, isShown] of [
      [ALICE_TOKEN, undefined, false],
      [ALICE_TOKEN, "You are an agent.", true],
      [BOB_TOKEN, "You are an agent.", false],
    ] as const) {
      const headers = { "x-longhaul-token": token };
      await ask(gateway, { path: COUNT, body: { ...text, ...(system && { system }) }, headers });
      expect(upstream.heard.at(-1)?.body.includes(MEMORY)).toBe(isShown);
    }
  });

  test("a count of tokens over Responses includes the memories too", async () => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":9}');
    });
    const gateway = await startGateway({ upstream: upstream.url });
    await gateway.kernel.memories().remember(MEMORY, { by: "user" });
    const body = { model: "gpt-5.5", instructions: "You are an agent.", input: "Hello." };
    await ask(gateway, { path: "/v1/responses/input_tokens", body });
    expect(upstream.heard.at(-1)?.json.instructions).toMatch(/^You are an agent\.[\s\S]*Answer in German\./);
    expect(upstream.heard.at(-1)?.json.input).toBe("Hello.");
  });
});

describe("a count of tokens", () => {
  proofTest("a count of tokens counts the edited window, not the client's whole history", async () => {
    const { gateway, upstream, last, body } = await workedOn();
    const counted = await ask(gateway, { path: COUNT, body });
    expect(JSON.stringify(body).length).toBeGreaterThan(1.8 * last);
    const { input_tokens } = JSON.parse(counted.text);
    expect(input_tokens).toBeGreaterThan(last / 4 - 500);
    expect(input_tokens).toBeLessThan(last / 4 + 500);
    expect(upstream.heard.at(-1)?.json.messages.at(-1)).toEqual(body.messages.at(-1));
    expect(await threadsOf(gateway)).toHaveLength(1);
  });

  proofTest("a count of tokens stays that of the edited window when cache markers have moved", async () => {
    const { gateway, last, body } = await workedOn();
    const messages = body.messages as { role: string; content: Record<string, unknown>[] }[];
    for (const { content } of messages.slice(-3)) {
      const block = content.at(-1);
      if (block) block.cache_control = { type: "ephemeral" };
    }
    const { input_tokens } = JSON.parse((await ask(gateway, { path: COUNT, body })).text);
    expect(input_tokens).toBeLessThan(last / 4 + 500);
  });

  proofTest(
    "the request to count tokens obeys the provider's rules, however markers move while the window is edited",
    async () => {
      const upstream = await counting();
      const models = { "claude-sonnet-4-5": { window: 40_000 } };
      const gateway = await startGateway({ upstream: upstream.url, config: { models } });
      const agent = new TestAgent(gateway);
      const elements: WireObject[] = [
        { role: "user", content: [{ type: "text", text: "Go through all files." }] },
      ];
      for (let turn = 1; turn < 40; turn++) {
        agent.elements = marked(elements);
        const { calls } = await agent.next();
        elements.push(agent.elements.at(-1) as WireObject);
        const results = calls.map(({ id }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: output(turn, 5_000),
        }));
        elements.push({ role: "user", content: results });
        await quiet(gateway);
        const { max_tokens: _, stream: __, ...rest } = agent.body();
        await ask(gateway, { path: COUNT, body: { ...rest, messages: marked(elements) } });
        const heard = upstream.heard.at(-1);
        expect(heard?.url).toBe(COUNT);
        expect(findViolations("anthropic", heard?.json.messages)).toEqual([]);
      }
      expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(elements).length / 1.5);
    },
  );

  proofTest(
    "a count of tokens reflects the edits that the client asked for, which the upstream never sees",
    async () => {
      const context_management = {
        edits: [{ type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 10 } }],
      };
      const { gateway, upstream, last, body } = await workedOn({ context_management });
      const { input_tokens } = JSON.parse((await ask(gateway, { path: COUNT, body })).text);
      expect(input_tokens).toBeLessThan(last / 4 + 500);
      expect(upstream.heard.at(-1)?.json.context_management).toBeUndefined();
    },
  );

  test.each(["none", "longhaul"])(
    "a count of tokens uses the upstream's name of the model with policy %s",
    async (policy) => {
      const upstream = await counting();
      const apis = ["anthropic", "openai-chat"];
      const gateway = await startGateway({
        upstream: [{ name: "box", baseUrl: upstream.url, apis, prefix: "box/" }],
        config: { policy },
      });
      const messages = [{ role: "user", content: "Hello." }];
      await ask(gateway, { path: COUNT, body: { model: "box/claude", messages } });
      expect(upstream.heard[0]?.json).toEqual({ model: "claude", messages });
      await ask(gateway, { path: "/v1/embeddings", body: { model: "box/words", input: "Hello." } });
      expect(upstream.heard[1]?.json).toEqual({ model: "words", input: "Hello." });
    },
  );
});
