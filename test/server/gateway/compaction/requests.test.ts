import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { ask, logOf, startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../../support/people.ts";
import { proofTest } from "../../../support/proof.ts";
import { beginStream, formatEvent, startUpstream } from "../../../support/upstream.ts";
import {
  blockOf,
  compacting,
  expectPlain,
  expectWords,
  heardBy,
  longTalk,
  startCounting,
} from "./summaries.ts";
import { startSummarised, startTalk } from "./talk.ts";

const SUMMARY = "Summary of the conversation: the user builds a website and wants it blue.";

function summed(...blocks: readonly WireObject[]): WireObject {
  return { role: "assistant", content: [{ type: "compaction", content: SUMMARY }, ...blocks] };
}

const text = (words: string): WireObject => ({ type: "text", text: words });
const user = (content: string): WireObject => ({ role: "user", content });

async function onlyLog(gateway: TestGateway) {
  const [main, ...others] = await threadsOf(gateway);
  expect(others).toEqual([]);
  return logOf(await gateway.kernel.session(main?.id));
}

describe("two conversations with the same summary", () => {
  test("two conversations with the same summary never get each other's words, whatever came before the summary", async () => {
    const { upstream, agent } = await startTalk();
    const other = new TestAgent(agent.gateway);
    for (const [own, name] of [
      [agent, "crimson"],
      [other, "emerald"],
    ] as const) {
      own.elements = [user(`Build a ${name} website.`), summed(text("Here it is."))];
      await own.say(`Make the ${name} one rounder.`);
    }
    await agent.say("And the crimson one larger.");
    other.elements = [summed(text("Here it is.")), user("Where is the emerald one?")];
    await other.next();
    const heard = upstream.heard.map(({ body }) => body.toString());
    expect(heard).toHaveLength(4);
    for (const [index, words] of heard.entries())
      expect(words.includes("crimson") && words.includes("emerald"), `request ${index}`).toBe(false);
    expect(heard[1]).not.toContain("crimson");
    expect(heard[3]).not.toContain("crimson");
  });
});

describe("a foreign summary", () => {
  test("a foreign summary goes out as user words and replaces the earlier messages, which stay in the log", async () => {
    const { upstream, gateway, agent } = await startTalk();
    agent.elements = [
      user("Build me a website."),
      { role: "assistant", content: [text("Of what colour?")] },
      user("Blue."),
      summed(text("Here it is.")),
    ];
    await agent.say("Now make it rounder.");
    await agent.say("And larger.");
    expectPlain(upstream);
    expect(heardBy(upstream, 0)).toEqual([
      user(SUMMARY),
      { role: "assistant", content: [text("Here it is.")] },
      user("Now make it rounder."),
    ]);
    expect(heardBy(upstream, 1).slice(0, 3)).toEqual(heardBy(upstream, 0));
    const log = await onlyLog(gateway);
    expect(log.map(({ message }) => message.role).join(" ")).toBe(
      "user assistant user assistant user assistant user assistant",
    );
    expect(JSON.stringify(log)).not.toContain(SUMMARY);
    const [main] = await threadsOf(gateway);
    const session = await gateway.kernel.session(main?.id);
    const overlays = await session.overlays.list();
    expect(overlays).toHaveLength(1);
    const expanded = [];
    for await (const entry of session.expand(overlays[0]?.entry.id as string)) expanded.push(entry);
    expect(JSON.stringify(expanded)).toContain("Of what colour?");
  });

  test("a foreign summary begins the conversation of a client that sends nothing before it", async () => {
    const { upstream, gateway, agent } = await startTalk();
    agent.elements = [summed(text("Here it is."))];
    await agent.say("Now make it rounder.");
    await agent.say("And larger.");
    expectPlain(upstream);
    expect(heardBy(upstream, 0)).toEqual([
      user(SUMMARY),
      { role: "assistant", content: [text("Here it is.")] },
      user("Now make it rounder."),
    ]);
    expect(await onlyLog(gateway)).toHaveLength(6);
  });

  proofTest(
    "a foreign summary stays in its conversation, even when the client later drops the messages before it",
    async () => {
      const { upstream, gateway, agent } = await startTalk();
      await agent.say("Build me a website, in blue if you can.");
      agent.elements.push(user("And tell me why."), summed(text("Blue is calm.")));
      await agent.say("Now make it rounder.");
      agent.elements = agent.elements.slice(3);
      await agent.say("And larger.");
      expectPlain(upstream);
      expect(heardBy(upstream)[0]).toEqual(user(SUMMARY));
      expect(JSON.stringify(heardBy(upstream))).not.toContain("in blue if you can");
      expect(await onlyLog(gateway)).toHaveLength(8);
    },
  );

  test("a foreign summary hides the calls before it and keeps later calls with their results", async () => {
    const { upstream, agent } = await startTalk();
    const call = (id: string) => ({ type: "tool_use", id, name: "read_file", input: { path: id } });
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `text of ${id}` });
    agent.elements = [
      user("Read the files."),
      { role: "assistant", content: [call("one")] },
      { role: "user", content: [result("one")] },
      summed(text("Next."), call("two")),
      { role: "user", content: [{ ...result("two"), cache_control: { type: "ephemeral" } }] },
    ];
    await agent.next();
    expect(heardBy(upstream)).toEqual([user(SUMMARY), withoutFirst(agent.elements[3]), agent.elements[4]]);
  });

  test("a foreign summary without content is left out", async () => {
    const { upstream, agent } = await startTalk();
    const failed = { type: "compaction", content: null };
    agent.elements = [
      user("Build me a website."),
      { role: "assistant", content: [failed, text("Of what colour?")] },
      user("Blue."),
    ];
    await agent.next();
    expect(heardBy(upstream)).toEqual([
      agent.elements[0],
      withoutFirst(agent.elements[1]),
      agent.elements[2],
    ]);
  });

  test("a count of tokens counts a foreign summary as it would be sent", async () => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":12}');
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const messages = [user("Build me a website."), summed(text("Here it is.")), user("Rounder.")];
    const body = { model: "claude-sonnet-4-5", messages };
    const { text: counted } = await ask(gateway, { path: "/v1/messages/count_tokens", body });
    expect(JSON.parse(counted)).toEqual({ input_tokens: 12 });
    expect(heardBy(upstream)).toEqual([
      user(SUMMARY),
      { role: "assistant", content: [text("Here it is.")] },
      user("Rounder."),
    ]);
  });
});

describe("the gateway's own summary", () => {
  proofTest(
    "the gateway's own summary finds the conversation after a restart, even if the client dropped everything else",
    async () => {
      const { upstream, gateway: first, agent } = await startSummarised();
      const block = blockOf(agent.elements.at(-1));
      const before = heardBy(upstream);
      await first.close();
      const second = await startGateway({ upstream: upstream.url, path: first.path });
      const later = new TestAgent(second);
      later.fields.context_management = compacting();
      later.elements = agent.elements.slice(-1);
      await later.say("And the difference?");
      expectPlain(upstream);
      const after = heardBy(upstream);
      expectWords(after, block?.content);
      expect(after.length).toBe(before.length + 2);
      expect(blockOf(later.elements.at(-1))).toBeUndefined();
      expect(await onlyLog(second)).toHaveLength(40 + 4);
    },
  );

  test("the gateway's own summary of one person is mere text for another", async () => {
    const { upstream, gateway, agent } = await startSummarised(TWO_PEOPLE, {
      "x-longhaul-token": ALICE_TOKEN,
    });
    const other = new TestAgent(gateway);
    other.headers["x-longhaul-token"] = BOB_TOKEN;
    other.elements = agent.elements.slice(-1);
    await other.say("What else was said?");
    const block = blockOf(agent.elements.at(-1));
    expect(heardBy(upstream)).toEqual([
      user(block?.content ?? ""),
      withoutFirst(agent.elements.at(-1)),
      user("What else was said?"),
    ]);
  });

  proofTest("the gateway's own summary goes out as words in simultaneous requests", async () => {
    const { upstream, gateway, agent } = await startSummarised();
    const kept = agent.elements.slice(-1);
    const answers = await Promise.all(
      ["the difference", "the product", "the share"].map((what) => {
        const fork = new TestAgent(gateway);
        fork.fields.context_management = compacting();
        fork.elements = [...kept, user(`And ${what}?`)];
        return fork.send();
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expectPlain(upstream);
    const block = blockOf(kept[0]);
    for (const index of [1, 2, 3]) expectWords(heardBy(upstream, index), block?.content);
    const [main] = (await threadsOf(gateway)).toReversed();
    const log = await logOf(await gateway.kernel.session(main?.id));
    expect(log.filter(({ message }) => message.parts.length === 0)).toEqual([]);
  });

  proofTest("the gateway's own summary is understood when a turn is replaced", async () => {
    const { upstream, gateway, agent } = await startSummarised();
    agent.elements = agent.elements.slice(-1);
    const kept = [...agent.elements];
    await agent.say("And the difference?");
    const before = heardBy(upstream);
    agent.elements = [...kept];
    await agent.say("And the product?");
    expect(heardBy(upstream)).toEqual([...before.slice(0, -1), user("And the product?")]);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });
});

describe("Anthropic's own summary", () => {
  const anthropic = (baseUrl: string) => [
    { name: "anthropic", baseUrl, apis: ["anthropic"], contextManagement: "upstream" },
  ];

  test("Anthropic's own compaction blocks are relayed, stored and sent back byte for byte", async () => {
    const upstream = await startUpstream((_, response) => {
      const event = (type: string, fields: object) => formatEvent({ event: type, data: { type, ...fields } });
      const index = 0;
      beginStream(response).end(
        [
          event("message_start", { message: { id: "msg_1", role: "assistant", model: "m", content: [] } }),
          event("content_block_start", { index, content_block: { type: "compaction", content: null } }),
          event("content_block_delta", {
            index,
            delta: { type: "compaction_delta", content: SUMMARY, encrypted_content: "c2VhbGVk" },
          }),
          event("content_block_stop", { index }),
          event("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
          event("content_block_delta", { index: 1, delta: { type: "text_delta", text: "Done." } }),
          event("content_block_stop", { index: 1 }),
          event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
          event("message_stop", {}),
        ].join(""),
      );
    });
    const gateway = await startGateway({ upstream: anthropic(upstream.url) });
    const agent = new TestAgent(gateway);
    agent.fields.context_management = compacting({ pause_after_compaction: true });
    agent.elements = longTalk(10);
    await agent.say("So what is the sum of it all?");
    expect(upstream.heard[0]?.json).toEqual({ ...agent.body(), messages: agent.elements.slice(0, -1) });
    await agent.say("And the difference?");
    expect(upstream.heard[1]?.json.messages).toEqual(agent.elements.slice(0, -1));
    const log = await onlyLog(gateway);
    expect(log).toHaveLength(20 + 4);
    const block = { type: "compaction", content: SUMMARY, encrypted_content: "c2VhbGVk" };
    expect(log[21]?.message.parts).toEqual([
      { type: "raw", format: "anthropic", value: block },
      { type: "text", text: "Done." },
    ]);
  });

  test("messages behind Anthropic's own summary do not count toward the window", async () => {
    const upstream = await startCounting();
    const gateway = await startGateway({ upstream: anthropic(upstream.url) });
    const agent = new TestAgent(gateway);
    agent.elements = [...longTalk(80), user("Sum it up."), summed(text("Done."))];
    await agent.say("And now?");
    expect(heardBy(upstream)).toEqual(agent.elements.slice(0, -1));
  });
});

describe("unchanged compaction blocks", () => {
  proofTest.each([
    ["with edits off", { policy: "none" }],
    ["in a dry run", { dryRun: true }],
  ])("compaction blocks stay unchanged %s", async (_, config) => {
    const { upstream, agent } = await startTalk(config);
    agent.elements = [user("Build me a website."), summed(text("Here it is."))];
    await agent.say("Now make it rounder.");
    expect(upstream.heard[0]?.body.toString()).toBe(
      JSON.stringify({ ...agent.body(), messages: agent.elements.slice(0, -1) }),
    );
  });
});

function withoutFirst(element: WireObject | undefined): WireObject {
  const content = element?.content ?? [];
  return { ...element, content: (content as readonly unknown[]).slice(1) };
}
