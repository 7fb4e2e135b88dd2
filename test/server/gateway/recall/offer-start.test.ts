import { describe, expect, test } from "vitest";
import { isRecallTool } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import type { Heard } from "../../../support/upstream.ts";
import { startLimitedUpstream } from "../limited.ts";

/** As long as the instructions of coding agents. */
const LONG_PROMPT = "Read the file before you change it. ".repeat(1_000);

const TOOL = { name: "look", description: "Looks.", input_schema: { type: "object" } };

function offersRecall({ json }: Heard): boolean {
  return (json.tools ?? []).some(({ name }: { readonly name: string }) => isRecallTool(name));
}

/** Holds a conversation of three requests, and tells which of them offered the gateway's tools. */
async function talk(
  recall: unknown,
  {
    beginning = 0,
    model = "claude-sonnet-4-5",
    system = "",
    policy = "longhaul",
  }: {
    readonly beginning?: number;
    readonly model?: string;
    readonly system?: string;
    readonly policy?: string;
  } = {},
) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: 200_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: () => ({ text: "Done." }),
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { recall, policy } });
  const agent = new TestAgent(gateway);
  agent.fields.tools = [TOOL];
  agent.fields.model = model;
  if (system !== "") agent.fields.system = system;
  const sent: string[] = [];
  for (let turn = 0; turn < beginning; turn++)
    agent.elements.push({ role: "user", content: `Early ${turn}.` }, { role: "assistant", content: "Yes." });
  for (let turn = 0; turn < 3; turn++) {
    agent.elements.push({ role: "user", content: `Question ${turn}?` });
    sent.push(JSON.stringify(agent.body()));
    expect((await agent.send()).status).toBe(200);
    agent.elements.push({ role: "assistant", content: [{ type: "text", text: "Done." }] });
  }
  return {
    offered: upstream.heard.map(offersRecall),
    bodies: upstream.heard.map(({ body }) => body.toString()),
    sent,
  };
}

describe("recall tools from the start of a conversation", () => {
  test("recall tools that start with a conversation are in every request of it", async () => {
    expect((await talk({ offer: "start" })).offered).toEqual([true, true, true]);
  });

  test("recall tools that start with a conversation do not join a conversation that began elsewhere", async () => {
    const { bodies, sent } = await talk({ offer: "start" }, { beginning: 2 });
    expect(bodies).toEqual(sent);
  });

  test("recall tools are in the first request by default if the agent's prompt is long and its cache cheap", async () => {
    expect((await talk({}, { system: LONG_PROMPT })).offered).toEqual([true, true, true]);
  });

  test.each([
    ["the agent's prompt is short", {}],
    ["nobody knows what a cached token costs", { system: LONG_PROMPT, model: "a-model-of-our-own" }],
    ["a cached token costs half of a fresh one", { system: LONG_PROMPT, model: "gpt-4o" }],
  ])("recall tools wait for the first edit by default if %s", async (_reason, options) => {
    expect((await talk({}, options)).offered).toEqual([false, false, false]);
  });

  test("recall tools do not join a gateway that edits nothing, unless the configuration asks for them", async () => {
    const { bodies, sent } = await talk({}, { system: LONG_PROMPT, policy: "none" });
    expect(bodies).toEqual(sent);
  });

  test("recall tools are never offered if they are switched off, in the old or the new words", async () => {
    for (const recall of [{ offer: "never" }, { tools: "off" }, "off"])
      expect((await talk(recall)).offered).toEqual([false, false, false]);
  });
});
