import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { type Answering, says, startUpstream } from "../../support/upstream.ts";

/** Replies with the number of the request, so that no two replies are the same. */
const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

test("many conversations that begin with the same words go on after the gateway was started again", async () => {
  const upstream = await startUpstream(numbered);
  const first = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 40 }, () => new TestAgent(first));
  for (const agent of agents) await agent.say("Hello");
  expect(await threadsOf(first, "main")).toHaveLength(40);
  await first.close();
  const second = await startGateway({ upstream: upstream.url, path: first.path });
  const newcomer = new TestAgent(second);
  await newcomer.say("Hello");
  expect(await threadsOf(second, "main")).toHaveLength(41);
  for (const agent of agents) {
    agent.gateway = second;
    await agent.say("Go on.");
  }
  expect(await threadsOf(second, "main")).toHaveLength(41);
});
