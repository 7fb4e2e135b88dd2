import { describe, expect, test } from "vitest";
import { output } from "../limited.ts";
import { onlyLine } from "../only-line.ts";
import { ChainedClient, wordsIn } from "./chained.ts";
import { outputOf, startWorld, working } from "./world.ts";

describe("a response that the provider has forgotten", () => {
  test.each([
    ["streamed", true, false],
    ["whole", false, false],
    ["refused inside a stream", true, true],
  ] as const)(
    "a response that the provider has forgotten is continued from the log, %s",
    async (_, stream, isLate) => {
      const { upstream, gateway } = await startWorld({
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
    },
  );

  test("the gateway stops asking for earlier responses if the provider or the client stores none", async () => {
    for (const [options, store] of [
      [{ isKeeping: false }, true],
      [{}, false],
    ] as const) {
      const { upstream, gateway, lastWords } = await startWorld(options);
      const client = new ChainedClient(gateway);
      client.fields.store = store;
      for (let turn = 0; turn < 8; turn++) await client.say(`Turn ${turn}.`);
      expect(upstream.refusals).toHaveLength(2);
      expect(lastWords()).toHaveLength(15);
      expect(await onlyLine(gateway)).toHaveLength(16);
    }
  });

  test("a response with recalls that the client has not seen is continued from its real end after a restart, and from the log once it is forgotten", async () => {
    const recall = [{ id: "call_r", name: "longhaul_recall", input: { query: "the number" } }];
    const config = { recall: { tools: true } };
    const { upstream, gateway, restart, lastWords } = await startWorld(
      { reply: (index) => (index === 0 ? { toolCalls: recall } : { text: `Reply ${index}.` }) },
      config,
    );
    const client = new ChainedClient(gateway);
    expect(await client.say("Remember the number 42.")).toBe("Reply 1.");
    const shown = client.previous;
    await client.say("Which number was it?");
    expect(upstream.refusals).toEqual([]);
    const second = await restart();
    await new ChainedClient(second, shown).say("And now?");
    // The store knows which reply it really ended with.
    expect(upstream.refusals).toEqual([]);
    expect(lastWords().map((words) => words.split("|", 1)[0])).toEqual([
      "user",
      "function_call",
      "function_call_output",
      "assistant",
      "user",
    ]);
    upstream.forget();
    await new ChainedClient(second, client.previous).say("And then?");
    expect(lastWords()).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And then?",
    ]);
  });

  test("a chain that is continued from the log keeps reasoning only as ciphertext, and no ids", async () => {
    const { upstream, gateway } = await startWorld();
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
