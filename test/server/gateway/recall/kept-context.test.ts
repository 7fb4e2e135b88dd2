import { describe, expect, test } from "vitest";
import { ContextTexts } from "../../../../src/server/gateway/recall/context-texts.ts";
import type { RequestMessage } from "../../../../src/server/gateway/request/request-messages.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { promptOf } from "./prompt.ts";

const FACT = "The staging server listens on port 7781.";
const QUESTION = "Which port did we say the staging server listens on?";
const CONTEXT = { recall: { context: true, offer: "never" } };
const APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

const has = (heard: Heard | undefined) => heard?.body.includes("7781") ?? false;

/** A conversation whose first question was answered with context from another one. */
async function startShown(api: (typeof APIS)[number] = "anthropic", before: readonly string[] = []) {
  const upstream = await startUpstream(says((_, index) => ({ text: `Answer ${index}.` })));
  const gateway = await startGateway({ upstream: upstream.url, config: CONTEXT });
  await new TestAgent(gateway, api).say(FACT);
  const agent = new TestAgent(gateway, api);
  for (const words of [...before, QUESTION]) await agent.say(words);
  expect(has(upstream.heard.at(-1))).toBe(true);
  const restart = async (config: object = CONTEXT) => {
    await (agent.gateway as typeof gateway).close();
    agent.gateway = await startGateway({ upstream: upstream.url, path: gateway.path, config: { ...config } });
    return agent.gateway as typeof gateway;
  };
  return { upstream, gateway, agent, restart };
}

test.each(APIS)("context over %s keeps its bytes and its place after a restart", async (api) => {
  const { upstream, agent, restart } = await startShown(api);
  await restart();
  await agent.say("Thanks, and now rename the box.");
  await restart();
  await agent.say(QUESTION);
  const [, asked, renamed, again] = upstream.heard.map(promptOf);
  expect(renamed?.startsWith(asked ?? "-")).toBe(true);
  expect(again?.startsWith(renamed ?? "-")).toBe(true);
});

test("a request repeated after a restart gets the same context, even if memory has learned more", async () => {
  const { upstream, agent, restart } = await startShown("anthropic", ["Hello."]);
  const gateway = await restart();
  await new TestAgent(gateway).say("The staging server also listens on port 9444 for the staging mail.");
  agent.elements = agent.elements.slice(0, 2);
  await agent.say(QUESTION);
  const [, , asked, , again] = upstream.heard.map(promptOf);
  expect(again).toBe(asked);
});

test("a fork and a branch of a conversation keep the context of the messages that they repeat", async () => {
  const { upstream, agent, restart } = await startShown();
  const gateway = await restart();
  const fork = new TestAgent(gateway);
  fork.headers["x-longhaul-session"] = "copied";
  fork.elements = [...agent.elements];
  await fork.say("Go another way.");
  await agent.say("Go on.");
  for (const heard of upstream.heard.slice(2))
    expect(promptOf(heard).startsWith(promptOf(upstream.heard[1] as Heard))).toBe(true);
});

test("a client's request for a summary keeps the context, so that the provider's cache applies", async () => {
  const { upstream, agent } = await startShown();
  const summarizer = new TestAgent(agent.gateway);
  summarizer.elements = [...agent.elements];
  await summarizer.say(
    `CRITICAL: Respond with TEXT ONLY. Do NOT call any tools. ${"Create a detailed summary of the conversation so far. ".repeat(60)}`,
  );
  expect(await threadsOf(agent.gateway as never, "compaction")).toHaveLength(1);
  expect(promptOf(upstream.heard[2] as Heard).startsWith(promptOf(upstream.heard[1] as Heard))).toBe(true);
});

test("context that quotes an entry is unreadable in the store once the entry is redacted, and left out", async () => {
  const { upstream, gateway, agent, restart } = await startShown();
  const shown: string[] = [];
  for (const { id } of await threadsOf(gateway, "main")) {
    await using session = await gateway.kernel.session(id);
    const fact = await session.facts.get("shown-context");
    if (fact === undefined) await session.redact(1);
    else shown.push(JSON.stringify(fact));
  }
  expect(shown).toHaveLength(1);
  expect(shown[0]).not.toContain("7781");
  await restart();
  await agent.say("Thanks.");
  expect(has(upstream.heard.at(-1))).toBe(false);
});

describe("the texts of a conversation", () => {
  const said = (...keys: readonly string[]): readonly RequestMessage[] =>
    keys.map((key, index) => ({
      key,
      role: key.startsWith("a") ? "assistant" : "user",
      index,
      from: index,
      to: index + 1,
      input: () => ({ role: "user", text: key }),
    }));

  async function openTexts() {
    const upstream = await startUpstream();
    const { kernel } = await startGateway({ upstream: upstream.url });
    const session = await kernel.session("local/texts");
    const withoutContext = new Map<string, true>();
    return new ContextTexts({ session, recall: { withoutContext } as never }, kernel.memory);
  }

  test("a context text is found again by its conversation up to the message", async () => {
    const texts = await openTexts();
    const first = said("u1", "a1", "u2");
    await texts.add(first, first[2] as RequestMessage, "two");
    const later = said("u1", "a1", "u2", "a2", "u2");
    expect([...(await texts.find(later))]).toEqual([[2, "two"]]);
    expect(await texts.has(later, later[2] as RequestMessage)).toBe(true);
    expect(await texts.has(later, later[4] as RequestMessage)).toBe(false);
  });

  test("memory is not searched again for a message without a hit, or after a text was taken back", async () => {
    const texts = await openTexts();
    const all = said("u1", "a1", "u2", "a2", "u3");
    await texts.add(all, all[0] as RequestMessage, undefined);
    await texts.add(all, all[2] as RequestMessage, "two");
    await texts.add(all, all[4] as RequestMessage, "three");
    await texts.forget(all, [2]);
    expect([...(await texts.find(all))]).toEqual([[4, "three"]]);
    for (const index of [0, 2, 4]) expect(await texts.has(all, all[index] as RequestMessage)).toBe(true);
  });

  test("the number of context texts is bounded, and no text leaves, so that the cache stays valid", async () => {
    const texts = await openTexts();
    const all = said(...Array.from({ length: 105 }, (_, index) => `u${index}`));
    for (const message of all) expect(await texts.add(all, message, "text")).toBe(message.index < 100);
    expect((await texts.find(all)).size).toBe(100);
  });
});
