import { describe, expect, test } from "vitest";
import { isRecallTool } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import type { Heard } from "../../../support/upstream.ts";
import { startLimitedUpstream } from "../limited.ts";

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
  }: { readonly beginning?: number; readonly model?: string } = {},
) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: 200_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: () => ({ text: "Done." }),
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { recall } });
  const agent = new TestAgent(gateway);
  agent.fields.tools = [TOOL];
  agent.fields.model = model;
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
  test("are in its first request and in all that follow", async () => {
    expect((await talk({ offer: "start" })).offered).toEqual([true, true, true]);
  });

  test("do not join a conversation that began elsewhere, whose prefix the provider has cached", async () => {
    const { bodies, sent } = await talk({ offer: "start" }, { beginning: 2 });
    expect(bodies).toEqual(sent);
  });

  test("wait for the first edit by default, so that they add nothing to the price of a short conversation", async () => {
    expect((await talk({})).offered).toEqual([false, false, false]);
  });

  test("are never offered to people who do not want them, in old and new words", async () => {
    for (const recall of [{ offer: "never" }, { tools: "off" }, "off"])
      expect((await talk(recall)).offered).toEqual([false, false, false]);
  });
});
