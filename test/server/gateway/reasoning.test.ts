import { expect } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { type KeptReply, TestAgent } from "../../support/agent.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { working } from "./long-session.ts";

const WINDOW = 16_000;
const POLICIES = ["longhaul", "cline", "roo", "openclaw"];

const ask = (turn: number) => `Question ${turn}: ${output(turn + 1_000, 500)}`;

/** Works until the window was edited several times; returns all requests that were sent. */
async function workOverLimit(policy: string) {
  const upstream = await startLimitedUpstream({
    api: "openai-chat",
    window: WINDOW,
    count: (body) => Math.ceil(body.length / 4),
    reply: (turn) =>
      turn % 12 === 11 ? { text: `Reply ${turn}.`, reasoning: `Thinking about ${turn}.` } : working(turn),
  });
  const upstreams = [
    { name: "small", baseUrl: upstream.url, apis: ["openai-chat" as const], window: WINDOW },
  ];
  const gateway = await startGateway({ upstream: upstreams, config: { policy } });
  const agent = new TestAgent(gateway, "openai-chat");
  // The client repeats the reasoning of each reply, as DeepSeek, Kimi and GLM require.
  const keep = (reply: KeptReply, turn: number) => {
    const at = agent.elements.findLastIndex(({ role }) => role === "assistant");
    agent.elements[at] = { ...agent.elements[at], reasoning_content: `Thinking about ${turn}.` };
    return reply;
  };
  let last = keep(await agent.say("Let us talk about the project."), 0);
  for (let turn = 1; turn < 60; turn++) {
    const isCalling = last.calls.length > 0;
    const asked = isCalling
      ? agent.hand(last.calls, output(turn, turn % 4 === 1 ? 9_000 : 1_500))
      : agent.say(ask(turn));
    last = keep(await asked, turn);
  }
  const given = agent.elements.filter(({ role }) => role === "assistant").map((one) => one.reasoning_content);
  for (const reasoning of given) expect(reasoning).toMatch(/^Thinking about/);
  const sent = upstream.heard.map(({ json }) => json.messages as readonly WireObject[]);
  expect(sent.at(-1)?.length).toBeLessThan(agent.elements.length);
  return { given, sent };
}

sizedTest.each(proofCases(POLICIES))(
  "every reply of Chat Completions that stays under %s keeps the reasoning that it came with, and no note ends its turn",
  async (policy) => {
    const { given, sent } = await workOverLimit(policy);
    for (const messages of sent) {
      for (const { role, reasoning_content } of messages)
        if (role === "assistant") expect(given).toContain(reasoning_content);
      const newest = messages.findLast(({ role }) => role === "user");
      expect(String(newest?.content)).toMatch(/^(?:Let us talk|Question)/);
    }
  },
);
