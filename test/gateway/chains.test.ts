import { describe, expect, it } from "vitest";
import { logOf, quiet, startGateway, type TestGateway, threadsOf } from "../support/gateway.ts";
import { ChainedClient, type KeepingOptions, startKeepingUpstream, wordsIn } from "./chained.ts";
import { output } from "./limited.ts";
import { textsIn } from "./said.ts";

async function world(options: KeepingOptions = {}, config: object = {}) {
  const upstream = await startKeepingUpstream(options);
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config } });
  return { upstream, gateway };
}

/** What the line of the only session says. */
async function onlyLine(gateway: TestGateway): Promise<readonly string[]> {
  const threads = await threadsOf(gateway);
  expect(threads).toHaveLength(1);
  const session = await gateway.kernel.session(threads[0]?.id);
  const { entries } = await session.page({ kinds: ["message"], limit: 1_000 });
  return entries.flatMap((entry) => (entry.kind === "message" ? [textsIn(entry.message)] : []));
}

const STREAMS = [
  ["streamed", true],
  ["whole", false],
] as const;

describe("a chain of responses", () => {
  it.each(STREAMS)("goes through as it came, %s, and is one session", async (_, stream) => {
    const { upstream, gateway } = await world();
    const client = new ChainedClient(gateway);
    client.fields.stream = stream;
    await client.say("Remember the number 42.");
    await client.say("Which number was it?");
    await client.say([{ role: "user", content: "And now?" }]);
    expect(upstream.heard.map(({ json }) => json.input)).toEqual([
      "Remember the number 42.",
      "Which number was it?",
      [{ role: "user", content: "And now?" }],
    ]);
    expect(await onlyLine(gateway)).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And now?",
      "assistant|Reply 3.",
    ]);
  });

  it.each(STREAMS)("goes on in its session after the gateway was started again, %s", async (_, stream) => {
    const { upstream, gateway } = await world();
    const client = new ChainedClient(gateway);
    client.fields.stream = stream;
    await client.say("Remember the number 42.");
    await client.say("Which number was it?");
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const later = new ChainedClient(second, client.previous);
    later.fields.stream = stream;
    await later.say("And now?");
    await later.say("And then?");
    expect(await onlyLine(second)).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And now?",
      "assistant|Reply 3.",
      "user|And then?",
      "assistant|Reply 4.",
    ]);
  });

  it("goes on in its session when that was let go, and through another gateway on the same store", async () => {
    const { upstream, gateway } = await world({}, { limits: { maxThreads: 1 } });
    const other = await startGateway({ upstream: upstream.url, path: gateway.path });
    const client = new ChainedClient(gateway);
    await client.say("Remember the number 42.");
    await new ChainedClient(gateway).say("Something else.");
    await new ChainedClient(gateway).say("Something else again.");
    await client.say("Which number was it?");
    const elsewhere = new ChainedClient(other, client.previous);
    await elsewhere.say("And now?");
    const back = new ChainedClient(gateway, elsewhere.previous);
    await back.say("And then?");
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(3);
    const session = await gateway.kernel.session(threads.at(-1)?.id);
    expect(
      (await logOf(session)).map(({ message: { parts } }) => (parts[0] as { text: string }).text),
    ).toEqual([
      "Remember the number 42.",
      "Reply 1.",
      "Which number was it?",
      "Reply 4.",
      "And now?",
      "Reply 5.",
      "And then?",
      "Reply 6.",
    ]);
  });

  it("belongs to whoever began it", async () => {
    const { upstream, gateway } = await world();
    const client = new ChainedClient(gateway);
    await client.say("My secret word is heliotrope.");
    upstream.forget();
    const other = new ChainedClient(gateway, client.previous);
    other.headers = { "x-api-key": "key-of-mallory" };
    const { status, text } = await other.send("Which number was it?");
    expect(status).toBe(400);
    expect(text).toContain("previous_response_not_found");
    expect(upstream.heard.at(-1)?.body.toString()).not.toContain("heliotrope");
  });
});

describe("a response that two requests go on from", () => {
  it("one after the other has two ways on, and each later request goes on with its own", async () => {
    const { upstream, gateway } = await world();
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const start = client.previous;
    await client.say("Go left.");
    const left = client.previous;
    const right = new ChainedClient(gateway, start);
    await right.say("Go right.");
    await new ChainedClient(gateway, left).say("Further left.");
    upstream.forget();
    await right.say("Further right.");
    expect(wordsIn(upstream.contexts.at(-1) ?? [])).toEqual([
      "user|Begin.",
      "assistant|Reply 1.",
      "user|Go right.",
      "assistant|Reply 3.",
      "user|Further right.",
    ]);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });

  it("at once becomes forks, none of which has words of another", async () => {
    const { upstream, gateway } = await world({ takesMs: 60 });
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const ways = Array.from({ length: 12 }, () => new ChainedClient(gateway, client.previous));
    await Promise.all(ways.map((way, index) => way.say(`Way ${index}.`)));
    await Promise.all(ways.map((way, index) => way.say(`Further on way ${index}.`)));
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    upstream.forget();
    for (const [index, way] of ways.entries()) {
      await new ChainedClient(second, way.previous).say(`The end of way ${index}.`);
      const said = wordsIn(upstream.contexts.at(-1) ?? []);
      expect(said.filter((words) => words.startsWith("user"))).toEqual([
        "user|Begin.",
        `user|Way ${index}.`,
        `user|Further on way ${index}.`,
        `user|The end of way ${index}.`,
      ]);
      expect(said).toHaveLength(7);
    }
  });

  it("asked again after a reply that broke off goes on with what was asked", async () => {
    const { upstream, gateway } = await world();
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    upstream.answer((_, response) => response.destroy());
    await client.send("Go on.").catch(() => undefined);
    await quiet(gateway);
    upstream.answer((_, response) => response.writeHead(500).end("{}"));
    expect((await client.send("Go on.")).status).toBe(500);
    expect(await onlyLine(gateway)).toEqual(["user|Begin.", "assistant|Reply 1.", "user|Go on."]);
  });
});

const MOST = 120_000;
/** Long work: each turn calls a tool, whose output the client hands over. */
const working = (index: number) => ({
  text: `Step ${index}.`,
  toolCalls: [{ id: `call_${index}`, name: "read_file", input: { path: `/repo/file${index}.ts` } }],
});
const outputOf = (turn: number) => [
  { type: "function_call_output", call_id: `call_${turn}`, output: output(turn, 4_000) },
];

describe("a chain that is too long for its provider", () => {
  it.each([
    ["streamed", true, false],
    ["whole", false, false],
    ["refused inside a stream", true, true],
  ] as const)("goes on from the log, %s, and its client hears nothing of it", async (_, stream, isLate) => {
    const { upstream, gateway } = await world(
      { most: MOST, reply: working, isLate },
      { models: { "gpt-4.1": { window: 30_000 } } },
    );
    const client = new ChainedClient(gateway);
    client.fields.stream = stream;
    client.fields.instructions = "You are a coding agent.";
    await client.say([
      { role: "developer", content: "Always answer in verse." },
      { role: "user", content: "Read all files of the project." },
    ]);
    for (let turn = 0; turn < 90; turn++) await client.say(outputOf(turn));
    const { refusals, contexts } = upstream;
    expect(contexts).toHaveLength(91);
    expect(refusals.length).toBeGreaterThan(1);
    expect(refusals.length).toBeLessThan(12);
    expect(new Set(refusals)).toEqual(new Set(["context_length_exceeded"]));
    // What was healed goes on as a chain.
    expect(upstream.heard.filter(({ json }) => json.previous_response_id === undefined)).toHaveLength(
      1 + refusals.length,
    );
    for (const context of contexts)
      expect(wordsIn(context).slice(0, 2)).toEqual([
        "developer|Always answer in verse.",
        "user|Read all files of the project.",
      ]);
    const [thread] = await threadsOf(gateway);
    const log = await logOf(await gateway.kernel.session(thread?.id));
    expect(log).toHaveLength(182);
    expect(gateway.logged.filter(({ healed }) => healed)).toHaveLength(refusals.length);
  });

  it("goes on from the log after the gateway was started again", async () => {
    const config = { models: { "gpt-4.1": { window: 30_000 } } };
    const { upstream, gateway } = await world({ most: MOST, reply: working }, config);
    const client = new ChainedClient(gateway);
    await client.say([
      { role: "developer", content: "Always answer in verse." },
      { role: "user", content: "Read all files of the project." },
    ]);
    for (let turn = 0; turn < 20; turn++) await client.say(outputOf(turn));
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path, config });
    const later = new ChainedClient(second, client.previous);
    for (let turn = 20; turn < 40; turn++) await later.say(outputOf(turn));
    expect(upstream.refusals.length).toBeGreaterThan(0);
    expect(wordsIn(upstream.contexts.at(-1) ?? []).slice(0, 2)).toEqual([
      "developer|Always answer in verse.",
      "user|Read all files of the project.",
    ]);
    expect(await threadsOf(second)).toHaveLength(1);
  });

  it("is tried three more times at most, and then the client gets the provider's own words", async () => {
    const { upstream, gateway } = await world({ most: 400 });
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const { status, text } = await client.send(output(1, 30_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
    expect(upstream.heard.length).toBeLessThanOrEqual(5);
    expect(await client.say("Something short.")).toBe("Reply 2.");
  });

  it("is left alone with policy none and with a dry run", async () => {
    for (const config of [{ policy: "none" }, { dryRun: true }]) {
      const { upstream, gateway } = await world({ most: 10_000 }, config);
      const client = new ChainedClient(gateway);
      await client.say(output(1, 6_000));
      const { status, text } = await client.send(output(2, 6_000));
      expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
      upstream.forget();
      expect((await client.send("Anything?")).text).toContain("previous_response_not_found");
      expect(upstream.heard).toHaveLength(3);
    }
  });

  it("that began before the gateway saw it gets the provider's own words", async () => {
    const { upstream, gateway } = await world({ most: 10_000 });
    const direct = new ChainedClient(upstream);
    await direct.say(output(1, 6_000));
    const client = new ChainedClient(gateway, direct.previous);
    await client.say("What did it say?");
    const { status, text } = await client.send(output(2, 6_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
  });
});

describe("a response that its provider does not know any more", () => {
  it.each([
    ["streamed", true, false],
    ["whole", false, false],
    ["refused inside a stream", true, true],
  ] as const)("is gone on from by the log, %s", async (_, stream, isLate) => {
    const { upstream, gateway } = await world({
      reply: (index) => (index < 1 ? working(index) : {}),
      isLate,
    });
    const client = new ChainedClient(gateway);
    client.fields.stream = stream;
    client.fields.metadata = null;
    client.fields.conversation = null;
    await client.say("Read the file.");
    upstream.forget();
    const before = client.previous;
    await client.next(outputOf(0));
    const sent = upstream.heard.at(-1)?.json;
    expect(sent).not.toHaveProperty("previous_response_id");
    expect(sent).toMatchObject({ model: "gpt-4.1", metadata: null, stream });
    expect(wordsIn(sent?.input as [])).toEqual([
      "user|Read the file.",
      "assistant|Step 0.",
      'function_call|call_0|{"path":"/repo/file0.ts"}',
      `function_call_output|call_0|${output(0, 4_000)}`,
    ]);
    expect(client.previous).toBe(before);
  });

  it("is not asked for again where the provider keeps none, or the client has nothing stored", async () => {
    for (const [options, store] of [
      [{ isKeeping: false }, true],
      [{}, false],
    ] as const) {
      const { upstream, gateway } = await world(options);
      const client = new ChainedClient(gateway);
      client.fields.store = store;
      for (let turn = 0; turn < 8; turn++) await client.say(`Turn ${turn}.`);
      expect(upstream.refusals).toHaveLength(2);
      expect(wordsIn(upstream.contexts.at(-1) ?? [])).toHaveLength(15);
      expect(await onlyLine(gateway)).toHaveLength(16);
    }
  });

  it("is gone on from by the log where the client has not seen all of it", async () => {
    const recall = [{ id: "call_r", name: "longhaul_recall", input: { query: "the number" } }];
    const config = { recall: { tools: true } };
    const { upstream, gateway } = await world(
      { reply: (index) => (index === 0 ? { toolCalls: recall } : { text: `Reply ${index}.` }) },
      config,
    );
    const client = new ChainedClient(gateway);
    expect(await client.say("Remember the number 42.")).toBe("Reply 1.");
    const shown = client.previous;
    await client.say("Which number was it?");
    expect(upstream.refusals).toEqual([]);
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path, config });
    await new ChainedClient(second, shown).say("And now?");
    expect(upstream.refusals).toEqual(["call-without-result"]);
    expect(wordsIn(upstream.contexts.at(-1) ?? [])).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|And now?",
    ]);
    upstream.forget();
    await new ChainedClient(second, client.previous).say("And then?");
    expect(wordsIn(upstream.contexts.at(-1) ?? [])).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And then?",
    ]);
  });

  it("keeps reasoning only as ciphertext, and no ids", async () => {
    const { upstream, gateway } = await world();
    const items = (id: string, more: object) => [
      { type: "reasoning", id: `rs_${id}`, summary: [], ...more },
      {
        type: "message",
        id: `msg_${id}`,
        role: "assistant",
        content: [{ type: "output_text", text: `Said ${id}.` }],
      },
      {
        type: "web_search_call",
        id: `ws_${id}`,
        status: "completed",
        action: { type: "search", query: "x" },
      },
      { type: "custom_tool_call", id: `ctc_${id}`, call_id: `c${id}`, name: "patch", input: "*** Begin" },
    ];
    const client = new ChainedClient(gateway);
    await client.say([
      { role: "user", content: "Work." },
      ...items("1", {}),
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
      ...items("2", { encrypted_content: "gAAAA" }),
      { type: "custom_tool_call_output", call_id: "c2", output: "done" },
    ]);
    upstream.forget();
    await client.say("Go on.");
    expect(upstream.heard.at(-1)?.json.input).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Work." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Said 1." }] },
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
      { type: "reasoning", id: "rs_2", encrypted_content: "gAAAA", summary: [] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Said 2." }] },
      { type: "custom_tool_call", call_id: "c2", name: "patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "c2", output: "done" },
      {
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Reply 1." }],
      },
      { role: "user", content: "Go on." },
    ]);
  });
});

describe("a conversation that the provider keeps", () => {
  it("is one session, and goes on from the log when it is too long, also later", async () => {
    const config = { models: { "gpt-4.1": { window: 30_000 } } };
    const { upstream, gateway } = await world({ most: MOST, reply: working }, config);
    const client = new ChainedClient(gateway);
    client.fields.conversation = "conv_0123456789";
    await client.next("Read all files of the project.");
    for (let turn = 0; turn < 40; turn++) await client.next(outputOf(turn));
    expect(upstream.refusals).toEqual(["context_length_exceeded"]);
    expect(await threadsOf(gateway)).toHaveLength(1);
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path, config });
    const later = new ChainedClient(second);
    later.fields.conversation = "conv_0123456789";
    await later.next(outputOf(40));
    expect(upstream.heard.at(-1)?.json).not.toHaveProperty("conversation");
    expect(wordsIn(upstream.contexts.at(-1) ?? [])[0]).toBe("user|Read all files of the project.");
  });

  it("of which the log has only the end gets the provider's own words", async () => {
    const { upstream, gateway } = await world({ most: 100_000 });
    const direct = new ChainedClient(upstream);
    direct.fields.conversation = "conv_0123456789";
    await direct.next(output(1, 60_000));
    const client = new ChainedClient(gateway);
    client.fields.conversation = "conv_0123456789";
    await client.next("What did it say?");
    const { status, text } = await client.send(output(2, 50_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
  });
});
