import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { lineOfThread } from "./only-line.ts";

/** Looks unique, but is the same for all conversations of a program. */
const KEY = "5f4dcc3b5aa765d61d8327deb882cf99";

async function world() {
  const upstream = await startUpstream(says((_, index) => ({ text: `Reply number ${index + 1}.` })));
  return { upstream, gateway: await startGateway({ upstream: upstream.url }) };
}

function agentOf(gateway: TestGateway, api: "openai-chat" | "openai-responses", key = KEY): TestAgent {
  const agent = new TestAgent(gateway, api);
  agent.fields.prompt_cache_key = key;
  return agent;
}

const saidIn = async (gateway: TestGateway) => {
  const mains = await threadsOf(gateway, "main");
  const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
  return lines.map((line) => line.filter((text) => text.startsWith("user|"))).sort();
};

describe.each(["openai-chat", "openai-responses"] as const)("a cache key over %s", (api) => {
  test("a cache key shared by all conversations of a program does not join them", async () => {
    const { upstream, gateway } = await world();
    const agents = [1, 2, 3].map(() => agentOf(gateway, api));
    await Promise.all(agents.map((agent, at) => agent.say(`Question of customer ${at}.`)));
    for (const [at, agent] of agents.entries()) await agent.say(`More of customer ${at}.`);
    const talks = [0, 1, 2].map((at) => [`user|Question of customer ${at}.`, `user|More of customer ${at}.`]);
    expect(await saidIn(gateway)).toEqual(talks);
    expect(await threadsOf(gateway, "agent")).toEqual([]);
    await gateway.close();

    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const [one] = agents as [TestAgent];
    const later = agentOf(second, api);
    later.elements = [...one.elements];
    await later.say("After a restart.");
    expect(await saidIn(second)).toEqual([[...(talks[0] ?? []), "user|After a restart."], ...talks.slice(1)]);
  });

  test("a cache key that an unknown client uses for one conversation keeps that conversation in one session", async () => {
    const { gateway } = await world();
    const agent = agentOf(gateway, api, "590581d7-b8b4-47fb-aa8a-db9ca653cc43");
    for (const text of ["Find the bug.", "Fix it.", "Test it."]) await agent.say(text);
    expect(await saidIn(gateway)).toEqual([["user|Find the bug.", "user|Fix it.", "user|Test it."]]);
  });

  test("the cache key of a client that is known to use cache keys as conversation ids becomes the session id", async () => {
    const { gateway } = await world();
    const agent = agentOf(gateway, api);
    agent.headers["user-agent"] = "codex_cli_rs/0.144.0 (Linux)";
    await agent.say("Find the bug.");
    agent.elements = [];
    await agent.say("Find the bug, and be quick.");
    expect((await threadsOf(gateway, "main")).map(({ id }) => id)).toEqual([
      expect.stringMatching(new RegExp(`codex:${KEY}$`)),
    ]);
  });
});
