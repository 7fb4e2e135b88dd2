import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway } from "../../../support/gateway.ts";
import type { Upstream } from "../../../support/upstream.ts";
import { compacting, longTalk, startCounting } from "./summaries.ts";

/** An agent, a gateway, and an upstream other than Anthropic's. */
export interface Talk {
  readonly upstream: Upstream;
  readonly gateway: TestGateway;
  readonly agent: TestAgent;
}

/** Starts upstream, gateway and agent for one test, without messages. */
export async function startTalk(config: object = {}): Promise<Talk> {
  const upstream = await startCounting();
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config } });
  return { upstream, gateway, agent: new TestAgent(gateway) };
}

/** Like `startTalk`, after a long conversation that ended with a summary, which the agent received. */
export async function startSummarised(config: object = {}, headers: object = {}): Promise<Talk> {
  const talk = await startTalk(config);
  Object.assign(talk.agent.headers, headers);
  talk.agent.fields.context_management = compacting();
  talk.agent.elements = longTalk(20);
  await talk.agent.say("So what is the sum of it all?");
  return talk;
}

/** Like `startTalk`, with an agent whose next request makes a summary due. */
export async function startTalkative(management: WireObject, stream: boolean): Promise<Talk> {
  const talk = await startTalk();
  return { ...talk, agent: talkative(talk.gateway, management, stream) };
}

/** An agent in the middle of a long conversation, whose next request makes a summary due. */
export function talkative(
  gateway: { readonly url: string },
  management: WireObject,
  stream: boolean,
): TestAgent {
  const agent = new TestAgent(gateway);
  Object.assign(agent.fields, { context_management: management, stream, tools: undefined });
  agent.elements = [...longTalk(20), { role: "user", content: "So what is the sum of it all?" }];
  return agent;
}
