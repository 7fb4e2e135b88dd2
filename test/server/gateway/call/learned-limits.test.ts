import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import { output, startLimitedUpstream } from "../limited.ts";

test("a limit that a provider has named costs no second refused request after a restart", async () => {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: 20_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: (index) => ({ text: `Read ${index}.` }),
    isAtOnce: true,
  });
  const talk = async (gateway: { readonly url: string }) => {
    const agent = new TestAgent(gateway);
    for (let turn = 0; turn < 12; turn++) await agent.say(output(turn, 8_000));
  };
  const gateway = await startGateway({ upstream: upstream.url });
  await talk(gateway);
  expect(upstream.refused()).toBe(1);
  await gateway.close();
  await talk(await startGateway({ upstream: upstream.url, path: gateway.path }));
  expect(upstream.refused()).toBe(1);
});
