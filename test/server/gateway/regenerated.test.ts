import { expect, test } from "vitest";
import type { Session } from "../../../src/kernel/index.ts";
import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, type Heard, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

const WINDOW = 32_000;

/** The messages of a request without marks of the cache, which move with its end. */
function messagesOf(heard: Heard | undefined): readonly string[] {
  const messages = (heard?.json.messages ?? []) as readonly WireObject[];
  return messages.map((message) => JSON.stringify(message).replaceAll(/,"cache_control":\{[^}]*\}/g, ""));
}

/** Number of messages at the beginning that two requests share. */
function countShared(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((message, index) => message !== other[index]);
  return at < 0 ? one.length : at;
}

async function openOnly(gateway: TestGateway): Promise<Session> {
  const [record] = await threadsOf(gateway);
  return gateway.kernel.session(record?.id);
}

/** Talks until a request is edited for its question. */
async function talkUntilEdited() {
  let replies = 0;
  const upstream = await startUpstream((heard, response) => {
    const input = Math.ceil(heard.body.length / 4);
    const usage = { input: 0, cacheRead: input, output: 20 };
    behave(heard, response, { type: "reply", reply: { text: `Reply ${replies++}.`, usage } });
  });
  const apis = ["anthropic"];
  const gateway = await startGateway({
    upstream: [{ name: "up", baseUrl: upstream.url, apis, window: WINDOW }],
    config: { paging: false },
  });
  const agent = new TestAgent(gateway);
  const isEdited = () => gateway.logged.some(({ event }) => event === "edit");
  for (let turn = 0; turn < 60 && !isEdited(); turn++)
    await agent.say(`Turn ${turn}: ${output(turn, 4_000)}`);
  expect(isEdited()).toBe(true);
  return { upstream, gateway, agent };
}

test("a regenerated reply keeps the plan and the provider's prefix", async () => {
  const { upstream, gateway, agent } = await talkUntilEdited();
  const before = messagesOf(upstream.heard.at(-1));
  expect(before.length).toBeLessThan(agent.elements.length);
  // The client takes the reply back, asks again and continues from the other one.
  agent.elements.pop();
  await agent.next();
  expect(messagesOf(upstream.heard.at(-1))).toEqual(before);
  await agent.say("And what follows from that?");
  const after = messagesOf(upstream.heard.at(-1));
  expect(countShared(before, after)).toBe(before.length);
  expect(gateway.logged.filter(({ event }) => event === "edit")).toHaveLength(1);
  // The same after a restart, which knows only the log.
  await gateway.close();
  const apis = ["anthropic"];
  agent.gateway = await startGateway({
    upstream: [{ name: "up", baseUrl: upstream.url, apis, window: WINDOW }],
    config: { paging: false },
    path: gateway.path,
  });
  agent.elements.splice(-2);
  await agent.say("And what else follows?");
  expect(countShared(before, messagesOf(upstream.heard.at(-1)))).toBe(before.length);
});

proofTest("an edited question keeps the earlier plan and the provider's prefix", async () => {
  const { upstream, gateway, agent } = await talkUntilEdited();
  const before = messagesOf(upstream.heard.at(-1));
  agent.elements.splice(-2);
  await agent.say("Another question instead.");
  const after = messagesOf(upstream.heard.at(-1));
  expect(after.length).toBeLessThan(agent.elements.length - 1);
  expect(countShared(before, after)).toBe(before.length - 1);
  expect(gateway.logged.filter(({ event }) => event === "edit")).toHaveLength(1);
});

test("a plan leaves the window together with its messages after a fork", async () => {
  const { gateway, agent } = await talkUntilEdited();
  agent.elements.splice(6);
  await agent.say("From here on again.");
  const session = await openOnly(gateway);
  const window = await session.window({ model: "claude-sonnet-4-5" }).look();
  expect(window?.isRewritten).toBe(false);
});

proofTest("a rewind also takes back exactly the edits made since", async () => {
  const { gateway } = await talkUntilEdited();
  const session = await openOnly(gateway);
  const question = (await logOf(session)).findLast(({ message }) => message.role === "user");
  await session.rewind(question?.id ?? "");
  const window = await session.window({ model: "claude-sonnet-4-5" }).look();
  expect(window?.isRewritten).toBe(false);
});
