import { describe, expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { commonLength, promptOf } from "./prompt.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;
const CASES = [
  ...APIS.map((api) => ({ api, model: undefined })),
  { api: "anthropic" as const, model: "claude-opus-4-8" },
];
/** The words with which Claude Code has its conversation summarized. */
const SUMMARIZE = `CRITICAL: Respond with TEXT ONLY. Do NOT call any tools. ${"Create a detailed summary of the conversation so far. ".repeat(60)}`;

async function begin(
  { api, model }: (typeof CASES)[number],
  reply: Parameters<typeof says>[0] = "Fine.",
  recall: object = { offer: "start" },
  /** The request whose reply waits for the next request. */
  together?: number,
) {
  const answer = says(reply);
  const isTogether = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (heard, response, index) => {
    if (index === together) await isTogether.promise;
    if (index === (together ?? 0) + 1) isTogether.resolve();
    return answer(heard, response, index);
  });
  const config = { recall };
  const gateway = await startGateway({ upstream: upstream.url, config });
  const remember = (text: string) => gateway.kernel.memories().remember(text, { by: "user" });
  await remember("The user prefers short answers.");
  const agent = new TestAgent(gateway, api);
  if (model !== undefined) agent.fields.model = model;
  const prompts = () => upstream.heard.map(promptOf);
  const last = () => prompts().at(-1) ?? "";
  return { upstream, gateway, agent, remember, prompts, last };
}

/** The conversation up to a second turn that was told of a fact. */
async function beginWithFact(
  one: (typeof CASES)[number],
  headers: Readonly<Record<string, string>> = {},
  together?: number,
) {
  const begun = await begin(one, undefined, undefined, together);
  Object.assign(begun.agent.headers, headers);
  await begun.agent.say("We plan the move of the harbour office.");
  await begun.remember("Fact 1 holds.");
  await begun.agent.say("Go on.");
  return { ...begun, before: begun.last() };
}

function expectGrowth(heard: readonly string[]): void {
  for (const [index, prompt] of heard.slice(1).entries())
    expect(commonLength(heard[index] ?? "", prompt), `request ${index + 1}`).toBe(heard[index]?.length);
}

const HOLDS = (text: string, part: string) => text.split(part).length - 1;

describe.each(proofCases(CASES))("over $api with $model", (one) => {
  sizedTest("memories that arrive while tools run change no earlier byte, and are sent once", async () => {
    let count = 0;
    const { agent, remember, prompts, last } = await begin(
      one,
      () =>
        count++ % 4 === 3
          ? { text: `Done ${count}.` }
          : { toolCalls: [{ id: `c${count}`, name: "run_command", input: { count } }] },
      { tools: "always", context: true },
    );
    for (let turn = 0; turn < 3; turn++) {
      let reply = await agent.say(`Turn ${turn}: look at things.`);
      for (let step = 0; step < 3; step++) {
        await remember(`Fact ${turn}-${step} holds.`);
        reply = await agent.hand(reply.calls, `output ${turn} ${step}`);
      }
    }
    await agent.say("And now?");
    expectGrowth(prompts());
    for (let turn = 0; turn < 3; turn++)
      for (let step = 0; step < 3; step++) expect(HOLDS(last(), `Fact ${turn}-${step} holds`)).toBe(1);
  });

  sizedTest("a conversation that goes on under a new id keeps its memories and tools", async () => {
    const { agent, remember, prompts, last } = await beginWithFact(one, { "x-longhaul-session": "one" });
    await remember("Fact 2 holds.");
    agent.headers["x-longhaul-session"] = "two";
    await agent.say("Go on elsewhere.");
    await agent.say("And on.");
    expectGrowth(prompts());
    expect([HOLDS(last(), "Fact 1 "), HOLDS(last(), "Fact 2 ")]).toEqual([1, 1]);
  });

  sizedTest("two simultaneous requests after one reply both keep earlier memories and tools", async () => {
    const { upstream, gateway, agent, before } = await beginWithFact(one, {}, 2);
    const other = new TestAgent(gateway, one.api);
    Object.assign(other.fields, agent.fields);
    other.elements = [...agent.elements];
    await Promise.all([agent.say("Take the first way."), other.say("Take the second way.")]);
    await Promise.all([agent.say("Go on."), other.say("Go on.")]);
    expect(await threadsOf(gateway)).toHaveLength(2);
    for (const heard of upstream.heard.slice(2))
      expect(commonLength(before, promptOf(heard))).toBe(before.length);
  });

  sizedTest("a turn that is taken back removes only its own memories", async () => {
    const { agent, remember, last, before } = await beginWithFact(one);
    const kept = [...agent.elements];
    await remember("Fact 2 holds.");
    await agent.say("Take the first way.");
    agent.elements = kept;
    await agent.say("Take the second way.");
    expect(commonLength(before, last())).toBe(before.length);
    expect(HOLDS(last(), "Fact 2 ")).toBe(1);
  });

  sizedTest.each([{}, { "x-longhaul-session": "one" }])(
    "a summary request of the client keeps memories and tools, and gets no new memories: %o",
    async (headers) => {
      const { gateway, agent, remember, last, before } = await beginWithFact(one, headers);
      await remember("Fact 2 holds.");
      const elements = [...agent.elements];
      agent.elements.push(...agent.words(SUMMARIZE));
      await agent.send();
      expect(commonLength(before, last())).toBe(before.length);
      expect(last()).not.toContain("Fact 2");
      const kinds = (await gateway.kernel.sessions()).map(({ meta }) => Object(meta?.gateway).kind);
      expect(kinds).toContain("compaction");
      agent.elements = elements;
      await agent.say("Go on.");
      expect(commonLength(before, last())).toBe(before.length);
      expect(last()).toContain("Fact 2");
    },
  );
});

test("a summary request with another system prompt, which no cache holds, is sent unchanged", async () => {
  const { upstream, gateway, agent } = await beginWithFact({ api: "anthropic", model: undefined });
  const other = new TestAgent(gateway);
  Object.assign(other.fields, { system: "You summarize conversations.", tools: undefined });
  other.elements = [...agent.elements, ...agent.words(SUMMARIZE)];
  const sent = JSON.stringify(other.body());
  await other.send();
  const heard = upstream.heard.at(-1) as Heard;
  expect(heard.body.toString()).toBe(sent);
});
