import { describe, expect, test } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { eventsIn, type TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../../support/proof.ts";
import { behave, startUpstream } from "../../../support/upstream.ts";
import {
  blockOf,
  compacting,
  expectPlain,
  expectSaid,
  expectWords,
  heardBy,
  startCounting,
} from "./summaries.ts";
import { startTalk, startTalkative, talkative } from "./talk.ts";

const NOTHING = { input_tokens: 0, output_tokens: 0 };

/** The reply to an agent's request as a message, streamed or not. */
async function replyTo(agent: TestAgent): Promise<WireObject> {
  const { status, text } = await agent.send();
  expect([status, text.slice(0, 300)]).toContain(200);
  if (agent.fields.stream !== true) return JSON.parse(text);
  const events = eventsIn(text);
  const end = events.findLast(({ type }) => type === "message_delta") as WireObject;
  const [element] = agent.read(text).elements;
  const { context_management, usage } = end;
  return { ...element, ...(end.delta as WireObject), context_management, usage };
}

describe.each(
  proofCases([
    ["streamed", true],
    ["whole", false],
  ]),
)("a %s reply to a request whose window was compacted", (_, stream) => {
  sizedTest("a reply after a compaction begins with the summary, which the log leaves out", async () => {
    const { upstream, gateway, agent } = await startTalkative(compacting(), stream);
    const reply = await replyTo(agent);
    const block = blockOf(reply);
    expect(block?.content).toContain("[Summary of the conversation so far]");
    expect((reply.content as WireObject[]).slice(1)).toEqual([{ type: "text", text: "Answer 0." }]);
    expectWords(heardBy(upstream), block?.content);
    expect(reply).toMatchObject({
      stop_reason: "end_turn",
      context_management: { applied_edits: [{ type: "compact_20260112" }] },
      usage: {
        output_tokens: 7,
        iterations: [
          { type: "compaction", ...NOTHING },
          { type: "message", input_tokens: 1_000, output_tokens: 7 },
        ],
      },
    });
    expectPlain(upstream);
    await expectSaid(gateway, [...agent.elements, { role: "assistant", content: reply.content }]);
  });

  proofTest("the summary comes again in the next reply if a request failed", async () => {
    const { upstream, agent } = await startTalkative(compacting(), stream);
    upstream.answer((heard, response) => behave(heard, response, { type: "error", kind: "overloaded" }));
    expect((await agent.send()).status).toBe(529);
    upstream.answer((heard, response) =>
      behave(heard, response, { type: "reply", reply: { text: "Here." } }),
    );
    expect(blockOf(await replyTo(agent))?.content).toContain("[Summary");
  });

  sizedTest("a client that pauses for a compaction gets only the summary, without a model call", async () => {
    const { upstream, gateway, agent } = await startTalkative(
      compacting({ pause_after_compaction: true }),
      stream,
    );
    const paused = await replyTo(agent);
    expect(upstream.heard).toEqual([]);
    expect(paused).toMatchObject({
      role: "assistant",
      content: [{ type: "compaction" }],
      stop_reason: "compaction",
      usage: { ...NOTHING, iterations: [{ type: "compaction", ...NOTHING }] },
      context_management: { applied_edits: [{ type: "compact_20260112" }] },
    });
    const asked = [...agent.elements];
    agent.elements.push({ role: "assistant", content: paused.content });
    const reply = await replyTo(agent);
    expect(reply).toMatchObject({
      content: [{ type: "text", text: "Answer 0." }],
      stop_reason: "end_turn",
    });
    expectWords(heardBy(upstream), blockOf(paused)?.content);
    expect(heardBy(upstream).at(-1)).toEqual({ role: "user", content: "So what is the sum of it all?" });
    expectPlain(upstream);
    agent.elements.push({ role: "assistant", content: reply.content });
    await expectSaid(gateway, [...asked, { role: "assistant", content: reply.content }]);
  });

  proofTest("a client that pauses may keep only the summary and its last messages", async () => {
    const { upstream, gateway, agent } = await startTalkative(
      compacting({ pause_after_compaction: true }),
      stream,
    );
    const said = [...agent.elements];
    const paused = await replyTo(agent);
    agent.elements = [{ role: "assistant", content: paused.content }, ...said.slice(-3)];
    const first = await replyTo(agent);
    expect(blockOf(first)).toBeUndefined();
    agent.elements.push(
      { role: "assistant", content: first.content },
      { role: "user", content: "And what is the difference?" },
    );
    const second = await replyTo(agent);
    expectPlain(upstream);
    expectWords(heardBy(upstream), blockOf(paused)?.content);
    expect(JSON.stringify(heardBy(upstream)).split("the sum of it all").length).toBe(2);
    await expectSaid(gateway, [
      ...said,
      ...agent.elements.slice(-2),
      { role: "assistant", content: second.content },
    ]);
  });

  proofTest("a reply begins with the summary even if the model uses the gateway's tools", async () => {
    const upstream = await startCounting();
    upstream.answer((heard, response, index) => {
      const call = { id: "call_1", name: "longhaul_recall", input: { query: "the sum" } };
      const reply = index === 0 ? { text: "Let me see. ", toolCalls: [call] } : { text: "It is 7." };
      behave(heard, response, { type: "reply", reply });
    });
    const gateway = await startGateway({ upstream: upstream.url, config: { recall: { tools: true } } });
    const agent = talkative(gateway, compacting(), stream);
    const reply = await replyTo(agent);
    expect(upstream.heard).toHaveLength(2);
    expect(reply.content).toMatchObject([
      { type: "compaction" },
      { text: "Let me see. " },
      { text: "It is 7." },
    ]);
    expectPlain(upstream);
    await expectSaid(gateway, [...agent.elements, { role: "assistant", content: reply.content }]);
  });

  sizedTest("a reply whose window was not compacted stays unchanged", async () => {
    const { agent } = await startTalkative(compacting({ pause_after_compaction: true }), stream);
    agent.elements = [{ role: "user", content: "Hello there." }];
    const reply = await replyTo(agent);
    expect(reply).toMatchObject({
      content: [{ type: "text", text: "Answer 0." }],
      context_management: { applied_edits: [] },
    });
    expect((reply.usage as WireObject).iterations).toBeUndefined();
  });
});

describe("the events of a reply after a summary", () => {
  test("the provider's events after an added summary change only in their index", async () => {
    const own = [
      `event: message_start\ndata: {"type":"message_start", "message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}\n\n`,
      `event: content_block_start\ndata: {"content_block":{"type":"text","text":"","index":5},"index" : 0 , "type":"content_block_start"}\n\n`,
      `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"\\u00e9 \\"index\\":0"},"index":0}\n\n`,
      `event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n`,
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\n`,
      `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
    ];
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(own.join(""));
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = talkative(gateway, compacting(), true);
    const { text } = await agent.send();
    expect(text.startsWith(own[0] as string)).toBe(true);
    expect(text).toContain((own[1] as string).replace('"index" : 0', '"index" : 1'));
    expect(text).toContain((own[2] as string).replace(/"index":0\}\n/, '"index":1}\n'));
    expect(text).toContain((own[3] as string).replace('"index":0', '"index":1'));
    expect(text).toContain(
      '"usage":{"output_tokens":3,"iterations":[{"type":"compaction","input_tokens":0,"output_tokens":0,',
    );
    expect(text).toContain('{"type":"message","input_tokens":9,"output_tokens":3}]}');
    expect(text.endsWith(own[5] as string)).toBe(true);
    const types = eventsIn(text).map(({ type, index }) => `${type} ${index ?? ""}`.trim());
    expect(types.slice(0, 5)).toEqual([
      "message_start",
      "content_block_start 0",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1",
    ]);
  });

  proofTest("clients that pause for the same summary at once share one conversation", async () => {
    const { upstream, gateway } = await startTalk();
    const management = compacting({ pause_after_compaction: true });
    const paused = await replyTo(talkative(gateway, management, false));
    const again = await replyTo(talkative(gateway, management, false));
    expect(again.content).toEqual(paused.content);
    expect(upstream.heard).toEqual([]);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });
});
