import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";
import { lineOfThread } from "../only-line.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

async function linesOf(gateway: TestGateway): Promise<readonly (readonly string[])[]> {
  const threads = await threadsOf(gateway, "main");
  return Promise.all(threads.map(({ id }) => lineOfThread(gateway, id)));
}

async function twoConversations(api: (typeof APIS)[number]) {
  const upstream = await startUpstream(says("Done as you asked."));
  const gateway = await startGateway({ upstream: upstream.url });
  const named = (id: string) => {
    const agent = new TestAgent(gateway, api);
    agent.headers["x-longhaul-session"] = id;
    return agent;
  };
  return { gateway, first: named("first"), second: named("second") };
}

test.each(APIS)("a fork over %s may go back to words that the other conversation has sent", async (api) => {
  const { gateway, first, second } = await twoConversations(api);
  for (const agent of [first, second]) await agent.say("Fix the login of the shop.");
  const fork = [...second.elements];
  await first.say("Now the logout.");
  await second.say("Now the tests.");
  second.elements = fork;
  await second.say("Now the logout.");
  await second.say("And the mail.");
  const words = ["Fix the login of the shop.", "Now the logout.", "And the mail."];
  expect(await linesOf(gateway)).toContainEqual(
    words.flatMap((text) => [`user|${text}`, "assistant|Done as you asked."]),
  );
});

test.each(APIS)("an id over %s may begin again with words that another id began with", async (api) => {
  const { gateway, first, second } = await twoConversations(api);
  await first.say("Hello");
  await second.say("Something else.");
  await second.say("And more.");
  second.elements = [];
  await second.say("Hello");
  const expected = ["user|Hello", "assistant|Done as you asked."];
  expect(await linesOf(gateway)).toEqual([expected, expected]);
});
