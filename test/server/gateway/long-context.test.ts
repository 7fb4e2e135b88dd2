import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

const BETA = { "anthropic-beta": "claude-code-20250219,context-1m-2025-08-07" };

/** A provider that counts four bytes as a token. */
const counting = () =>
  startUpstream((heard, response) => {
    const usage = { input: Math.ceil(heard.body.length / 4), cacheRead: 0, cacheWrite: 0, output: 5 };
    behave(heard, response, { type: "reply", reply: { text: "Fine.", usage } });
  });

/** A conversation that exceeds a window of 200,000 tokens, but is too cheap to be edited to save cost. */
function long(agent: TestAgent): TestAgent {
  for (let turn = 0; turn < 12; turn++) {
    agent.elements.push({ role: "user", content: output(turn, 40_000) });
    agent.elements.push({ role: "assistant", content: `Read ${turn}.` });
  }
  return agent;
}

/** The number of messages that the gateway sends of the long conversation. */
async function sent(
  headers: Record<string, string>,
  config: Record<string, unknown> = {},
): Promise<number | undefined> {
  const upstream = await counting();
  const gateway = await startGateway({ upstream: upstream.url, config });
  const agent = long(new TestAgent(gateway));
  Object.assign(agent.headers, headers);
  await agent.say("Go on.");
  return upstream.heard[0]?.json.messages.length;
}

describe("a client that asks for the window of a million tokens", () => {
  test("a client that asks for a window of a million tokens gets that window", async () => {
    expect(await sent(BETA)).toBe(25);
  });

  proofTest("a configured window overrides the client's request for a million tokens", async () => {
    const models = { "claude-sonnet-4-5": { window: 200_000 } };
    expect(await sent(BETA, { models })).toBeLessThan(25);
  });

  test("a client with a window of a million tokens gets the full token count", async () => {
    const upstream = await startUpstream((heard, response) => {
      const usage = { input: 300_000, cacheRead: 0, cacheWrite: 0, output: 5 };
      behave(heard, response, { type: "reply", reply: { text: "Fine.", usage } });
    });
    const agent = new TestAgent(await startGateway({ upstream: upstream.url }));
    expect((await agent.say("Hello.")).inputTokens).toBe(200_000);
    Object.assign(agent.headers, BETA);
    expect((await agent.say("Hello again.")).inputTokens).toBe(300_000);
  });
});

proofTest("a client that does not ask for a million tokens has its window edited in time", async () => {
  expect(await sent({ "anthropic-beta": "claude-code-20250219" })).toBeLessThan(25);
});
