import { describe, expect, test } from "vitest";
import { EXPAND_TOOL, RECALL_TOOL, SAVE_TOOL } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { TestAgent } from "../../../support/agent.ts";
import { testFolder } from "../../../support/folder.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../../support/people.ts";
import { says, startUpstream } from "../../../support/upstream.ts";
import { recalls, talk, userSays } from "./talk.ts";

const FACT = "The vault of the cellar opens with heronfold turns.";
const TURNS = "heronfold";
const QUERY = "how many turns open the vault of the cellar";

/** A gateway whose model calls one tool in reply to "Look." or "Save.". */
async function start(config: object = {}, path = testFolder()) {
  const upstream = await startUpstream(
    says(({ json }) => {
      const last = JSON.stringify(json.messages.at(-1));
      if (last.includes("Look.")) return recalls(QUERY);
      if (last.includes("Save."))
        return { toolCalls: [{ id: "call_1", name: SAVE_TOOL, input: { text: FACT } }] };
      if (last.includes("Expand."))
        return { toolCalls: [{ id: "call_1", name: EXPAND_TOOL, input: { entry: "memory:default#1" } }] };
      return { text: "Fine." };
    }),
  );
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { recall: "always", ...config },
    path,
  });
  const sent = (from = 0) =>
    upstream.heard
      .slice(from)
      .map(({ body }) => body.toString())
      .join("\n");
  /** Everything sent upstream because of some words. */
  const say = async (words: string, token?: string): Promise<string> => {
    const from = upstream.heard.length;
    const agent = new TestAgent(gateway);
    if (token !== undefined) agent.headers["x-longhaul-token"] = token;
    await agent.say(words);
    return sent(from);
  };
  return { upstream, gateway, kernel: gateway.kernel, memories: gateway.kernel.memories(), say, path };
}

describe("a memory that the user withdrew", () => {
  test.each([
    [
      "forgotten",
      (id: string) =>
        ({ kernel }: Started) =>
          kernel.memories().forget(id),
    ],
    [
      "rejected",
      (id: string) =>
        ({ kernel }: Started) =>
          kernel.memories().review(id, "rejected"),
    ],
    [
      "ended",
      (id: string) =>
        ({ kernel }: Started) =>
          kernel.memories().setValidity(id, { until: 1 }),
    ],
    [
      "redacted",
      () =>
        async ({ kernel }: Started) => {
          await using session = await kernel.session("memory:default");
          await session.redact(1);
        },
    ],
    [
      "rewound",
      () =>
        async ({ kernel }: Started) => {
          await kernel.memories().remember("Lunch is at noon.", { by: "user" });
          await using session = await kernel.session("memory:default");
          await session.remove(1);
        },
    ],
  ] as const)("a memory that was %s is in no call, no recall and no expanded entry", async (_, act) => {
    const started = await start();
    const { memories, say } = started;
    const memory = await memories.remember(FACT, { by: "agent" });
    for (const words of ["Hello.", "Look.", "Expand."]) expect(await say(words)).toContain(TURNS);
    await act(memory?.id ?? "")(started);
    for (const words of ["Hello.", "Look.", "Expand."]) expect(await say(words)).not.toContain(TURNS);
  });

  test("the agent cannot save a forgotten memory again, and the forgotten text stays in no conversation", async () => {
    const { memories, say, gateway, kernel } = await start();
    await say("Save.");
    const [memory] = await memories.list({ isUnreviewed: true });
    expect(memory).toMatchObject({ text: FACT, by: "agent", source: expect.stringMatching(/^local\//) });
    await memories.forget(memory?.id ?? "");
    expect(await say("Save.")).toContain("Not remembered: a memory with this value was forgotten");
    expect(await memories.list({ trust: "rejected", validAt: "ever" })).toEqual([]);
    for (const { id } of await threadsOf(gateway)) {
      await using session = await kernel.session(id);
      for await (const entry of session.entries()) expect(JSON.stringify(entry)).not.toContain(TURNS);
    }
  });
});

type Started = Awaited<ReturnType<typeof start>>;

describe("a memory of one person", () => {
  test("a memory does not follow a token that is given to another person", async () => {
    const first = await start(TWO_PEOPLE);
    await first.kernel.memories("gateway:@alice").remember(FACT, { by: "user" });
    for (const words of ["Hello.", "Look."]) {
      expect(await first.say(words, ALICE_TOKEN)).toContain(TURNS);
      expect(await first.say(words, BOB_TOKEN)).not.toContain(TURNS);
    }
    await first.gateway.close();
    const [alice, bob] = TWO_PEOPLE.tokens;
    const swapped = {
      tokens: [
        { name: "alice", sha256: bob?.sha256 },
        { name: "carol", sha256: alice?.sha256 },
      ],
    };
    const second = await start(swapped, first.path);
    for (const words of ["Hello.", "Look."]) {
      expect(await second.say(words, ALICE_TOKEN)).not.toContain(TURNS);
      expect(await second.say(words, BOB_TOKEN)).toContain(TURNS);
    }
  });
});

test("context that quotes an entry leaves later requests once that entry is redacted", async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { recall: { offer: "edit", context: true } },
  });
  const talker = { gateway, api: "anthropic", isStreamed: false } as const;
  await talk(talker, [userSays(FACT)]);
  const [source] = await threadsOf(gateway, "main");
  const said = [userSays("How many turns did we say open the vault of the cellar?")];
  const seen = await talk(talker, said);
  expect(upstream.heard[1]?.body.toString()).toContain(TURNS);
  await using session = await gateway.kernel.session(source?.id);
  await session.redact(1);
  await talk(talker, [...said, ...seen.elements, userSays("Thanks.")]);
  expect(upstream.heard[2]?.body.toString()).not.toContain(TURNS);
  expect(upstream.heard[2]?.body.toString()).not.toContain(RECALL_TOOL);
});
