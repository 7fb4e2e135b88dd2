import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { logOf, startGateway, type TestGateway } from "../../../support/gateway.ts";
import { behave, says, startUpstream } from "../../../support/upstream.ts";
import { textsIn } from "../said.ts";

const numbered = says((_, index) => ({ text: `Reply ${index}.` }));

async function talk(gateway: TestGateway, name: string, ...words: readonly string[]): Promise<TestAgent> {
  const agent = new TestAgent(gateway, "openai-chat");
  agent.headers["x-longhaul-session"] = name;
  for (const text of words) await agent.say(text);
  return agent;
}

async function wordsOf({ kernel }: TestGateway, id: string): Promise<readonly string[]> {
  await using session = await kernel.session(id);
  return (await logOf(session))
    .map(({ message }) => textsIn(message).replace(/^user\|/, ""))
    .filter((text) => !/Reply/.test(text));
}

const BELOW = "local/openai-chat:repo/feature";
const ABOVE = "local/openai-chat:repo";

test.each([
  ["begins", async (gateway: TestGateway) => gateway],
  [
    "has begun before a restart, when the other one is asked for",
    async (gateway: TestGateway, upstream: string) => {
      await gateway.close();
      return startGateway({ upstream, path: gateway.path });
    },
  ],
])("a conversation whose id begins another one's stays apart when that %s", async (_, between) => {
  const upstream = await startUpstream(numbered);
  const first = await startGateway({ upstream: upstream.url });
  const below = await talk(first, "repo/feature", "Plan the branch.", "Go on with the branch.");
  const gateway = await between(first, upstream.url);
  await talk(gateway, "repo", "Tell me about the repository.", "And its history?");
  below.gateway = gateway;
  await below.say("Finish the branch.");
  const branch = ["Plan the branch.", "Go on with the branch.", "Finish the branch."];
  expect(await wordsOf(gateway, BELOW)).toEqual(branch);
  expect(await wordsOf(gateway, ABOVE)).toEqual(["Tell me about the repository.", "And its history?"]);
  await gateway.kernel.deleteSession(BELOW);
  expect(await wordsOf(gateway, ABOVE)).toHaveLength(2);
});

test("a client that gives a conversation the id of a sub-agent's session gets its own session", async () => {
  const upstream = await startUpstream(numbered);
  const gateway = await startGateway({ upstream: upstream.url });
  await talk(gateway, "repo", "Tell me about the repository.");
  const main = await gateway.kernel.find(ABOVE);
  expect(main).toBeDefined();
  await using child = await (await gateway.kernel.session(ABOVE)).child({
    id: `${ABOVE}/agent-0123abcd`,
    ...(main?.meta && { meta: main.meta }),
  });
  await child.append({ role: "user", text: "Words of the sub-agent." });
  await talk(gateway, "repo/agent-0123abcd", "Words of another conversation.");
  expect(await wordsOf(gateway, child.id)).toEqual(["Words of the sub-agent."]);
});

test("a loop of one conversation stops no other one whose id has the same beginning", async () => {
  const upstream = await startUpstream((heard, response) => {
    behave(heard, response, { type: "error", kind: "overflow", status: 400 });
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { overflows: 2 } } });
  const ask = async (name: string) => {
    const agent = new TestAgent(gateway, "openai-chat");
    agent.headers["x-longhaul-session"] = name;
    agent.elements.push({ role: "user", content: "Words that are too many." });
    const before = upstream.heard.length;
    await agent.send();
    return upstream.heard.length > before;
  };
  for (let time = 0; time < 3; time++) await ask("org/a");
  expect(await ask("org/a")).toBe(false);
  expect(await ask("org/b")).toBe(true);
});
