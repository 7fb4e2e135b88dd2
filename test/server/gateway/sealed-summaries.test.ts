import { expect, test } from "vitest";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { ask, startGateway } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { working } from "./long-session.ts";

/** Encrypted summaries of the provider's own compaction. */
const SEALED = [
  ["compaction", 600],
  ["compaction", 72_000],
  ["compaction_summary", 600],
  ["context_compaction", 600],
] as const;

sizedTest.each(proofCases(SEALED))(
  "a sealed summary of type %s with %i characters never leaves the window",
  async (type, length) => {
    const upstream = await startLimitedUpstream({
      api: "openai-responses",
      window: 100_000,
      count: (body) => Math.ceil(body.length / 4),
      reply: working,
    });
    const gateway = await startGateway({
      upstream: upstream.url,
      config: { models: { "gpt-4.1": { window: 100_000 } } },
    });
    const agent = new TestAgent(gateway, "openai-responses");
    const earlier = { type, id: "cmp_1", encrypted_content: "EARLIER".repeat(100) };
    const sealed = { type, id: "cmp_2", encrypted_content: "SEALED".repeat(length / 6) };
    agent.elements.push({ role: "user", content: "Build the parser." }, earlier);
    agent.elements.push({ role: "user", content: "Fix it." }, sealed);
    let reply = await agent.say("Go on.");
    for (let turn = 1; turn < 40; turn++) {
      reply = await agent.hand(reply.calls, output(turn, 16_000));
      const sent = upstream.heard.at(-1)?.json.input as readonly WireObject[];
      expect(sent).toContainEqual(sealed);
    }
    expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(agent.body()).length / 2);
  },
);

test("the only item after a compaction by xAI stays first and unchanged through edits", async () => {
  const sealed = { id: "cmp_1", type: "compaction", encrypted_content: "SEALED".repeat(100) };
  const upstream = await startLimitedUpstream({
    api: "openai-responses",
    window: 40_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: working,
  });
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { models: { "gpt-4.1": { window: 40_000 } } },
  });
  const agent = new TestAgent(gateway, "openai-responses");
  let reply = await agent.say("Build the parser.");
  reply = await agent.hand(reply.calls, output(0, 4_000));
  await ask(gateway, { path: "/v1/responses/compact", body: agent.body() });
  agent.elements.splice(0, agent.elements.length, sealed);
  reply = await agent.say("Go on.");
  for (let turn = 1; turn < 14; turn++) {
    reply = await agent.hand(reply.calls, output(turn, 16_000));
    expect(upstream.heard.at(-1)?.json.input[0]).toEqual(sealed);
  }
  expect(upstream.heard.at(-1)?.body.length).toBeLessThan(JSON.stringify(agent.body()).length / 1.5);
});
