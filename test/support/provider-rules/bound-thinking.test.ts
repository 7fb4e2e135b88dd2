import { describe, expect, test } from "vitest";
import { THINKING_CONTROLS } from "./bound-thinking.ts";
import type { Fields, ModelRequest } from "./judgement.ts";
import { StrictProvider } from "./strict-provider.ts";

const MODEL = "claude-opus-5-5";
const TOOLS = [
  { name: "read", input_schema: { type: "object" } },
  { name: "run", input_schema: { type: "object" } },
];

/** A client that keeps every reply, and whose conversation a test can change. */
class Client {
  readonly provider: StrictProvider;
  body: Record<string, unknown> & { messages: Fields[] };
  readonly headers: Record<string, string> = {};
  path = "/v1/messages";
  #turn = 0;

  constructor(provider = new StrictProvider(), model = MODEL) {
    this.provider = provider;
    this.body = { model, system: "Be careful.", tools: TOOLS, messages: [] };
  }

  get request(): ModelRequest {
    return { path: this.path, body: this.body, header: (name) => this.headers[name] };
  }

  judge() {
    return this.provider.judge(this.request);
  }

  /** Says words or hands results over, and stores a reply with thinking and a call. */
  go(): this {
    const turn = this.#turn++;
    const last = this.body.messages.at(-1)?.content as readonly Fields[] | undefined;
    const call = last?.find(({ type }) => type === "tool_use");
    const result = { type: "tool_result", tool_use_id: call?.id, content: `output ${turn}` };
    this.body.messages.push({ role: "user", content: call ? [result] : `question ${turn}` });
    const judgement = this.judge();
    if (judgement.refusal) throw new Error(JSON.stringify(judgement.refusal.body));
    const said = { reasoning: `thought ${turn}`, text: `step ${turn}` };
    const toolCalls = turn % 3 === 2 ? [] : [{ id: `call_${turn}`, name: "read", input: { turn } }];
    const { seal } = this.provider.seal(this.request, judgement, { ...said, toolCalls });
    this.body.messages.push({
      role: "assistant",
      content: [
        { type: "thinking", thinking: said.reasoning, signature: seal },
        { type: "text", text: said.text },
        ...toolCalls.map((one) => ({ type: "tool_use", ...one })),
      ],
    });
    return this;
  }

  /** Ends the request with words or results, as a client does before it sends. */
  ask(): this {
    const last = this.body.messages.at(-1)?.content as readonly Fields[];
    const call = last.find(({ type }) => type === "tool_use");
    const result = { type: "tool_result", tool_use_id: call?.id, content: "the newest" };
    this.body.messages.push({ role: "user", content: call ? [result] : "and now?" });
    return this;
  }

  /** Replaces a message. */
  change(index: number, edit: (message: Fields) => Fields): this {
    this.body.messages = this.body.messages.map((one, at) => (at === index ? edit(one) : one));
    return this;
  }

  /** Leaves out the thinking of the replies with these numbers. */
  leaveOut(...replies: readonly number[]): this {
    for (const reply of replies)
      this.change(2 * reply + 1, (one) => ({ ...one, content: (one.content as Fields[]).slice(1) }));
    return this;
  }
}

const talk = (turns: number, client = new Client()) => {
  for (let turn = 0; turn < turns; turn++) client.go();
  return client;
};
const marked = (message: Fields): Fields => {
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as Fields[]);
  return { ...message, content: blocks.map((one) => ({ ...one, cache_control: { type: "ephemeral" } })) };
};
const refusedAt = (path: string) => ({
  status: 400,
  rule: "thinking-binding",
  body: {
    type: "error",
    error: {
      type: "invalid_request_error",
      message:
        `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.` +
        ' Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".' +
        " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.",
    },
  },
});

describe("thinking that is bound to its conversation", () => {
  test.each<readonly [string, (client: Client) => unknown]>([
    ["nothing changes", () => undefined],
    ["markers of the cache move", (one) => one.change(0, marked).change(2, marked)],
    ["the order of tools changes", (one) => (one.body.tools = TOOLS.toReversed())],
    ["a deferred tool joins", (one) => (one.body.tools = [...TOOLS, { name: "x", defer_loading: true }])],
    ["effort and limits change", (one) => Object.assign(one.body, { max_tokens: 9, tool_choice: {} })],
    ["all thinking is left out", (one) => one.leaveOut(0, 1, 2, 3)],
    ["the first thinking is left out", (one) => one.leaveOut(0, 1)],
    ["the last thinking is left out", (one) => one.leaveOut(2, 3)],
  ])("thinking stays valid if %s", (_, change) => {
    const client = talk(4);
    change(client);
    const { refusal, lost } = client.ask().judge();
    expect([refusal, lost]).toEqual([undefined, []]);
  });

  test.each<readonly [string, string, (client: Client) => unknown]>([
    ["the system prompt changes", "messages.1.content.0", (one) => (one.body.system = "Be bold.")],
    ["a tool leaves", "messages.1.content.0", (one) => (one.body.tools = TOOLS.slice(1))],
    [
      "a tool joins",
      "messages.1.content.0",
      (one) => (one.body.tools = [...TOOLS, { name: "recall", input_schema: {} }]),
    ],
    [
      "a tool is described in other words",
      "messages.1.content.0",
      (one) => (one.body.tools = [{ ...TOOLS[0], description: "Reads." }, TOOLS[1]]),
    ],
    [
      "a result is shortened",
      "messages.3.content.0",
      (one) =>
        one.change(2, (message) => ({
          ...message,
          content: [{ ...(message.content as Fields[])[0], content: "cut" }],
        })),
    ],
    [
      "words join a message of the user",
      "messages.5.content.0",
      (one) =>
        one.change(4, (message) => ({
          ...message,
          content: [...(message.content as Fields[]), { type: "text", text: "A note." }],
        })),
    ],
    ["a turn leaves", "messages.1.content.0", (one) => one.body.messages.splice(0, 6)],
    ["thinking leaves from the middle", "messages.5.content.0", (one) => one.leaveOut(1)],
  ])("thinking behind a change is refused if %s", (_, path, change) => {
    const client = talk(4);
    change(client);
    expect(client.ask().judge().refusal).toEqual(refusedAt(path));
  });

  test("thinking that comes back after it was left out spoils what was produced without it", () => {
    const client = talk(3);
    const whole = structuredClone(client.body.messages[5]) as Fields;
    client.leaveOut(2).go();
    expect(client.ask().judge().refusal).toBeUndefined();
    client.change(5, () => whole);
    expect(client.judge().refusal).toEqual(refusedAt("messages.7.content.0"));
  });

  test("thinking after a change is bound to the changed conversation", () => {
    const client = talk(3)
      .change(0, () => ({ role: "user", content: "something else" }))
      .leaveOut(0, 1, 2);
    const { sent, alive, refusal } = client.go().ask().judge();
    expect([sent.length, alive.length, refusal]).toEqual([1, 1, undefined]);
  });

  test("thinking in other words, or of an unknown signature, is refused", () => {
    for (const wrong of [{ thinking: "mine" }, { signature: "made up" }]) {
      const client = talk(2).change(1, ({ role, content }) => {
        const [first, ...rest] = content as Fields[];
        return { role, content: [{ ...first, ...wrong }, ...rest] };
      });
      expect(client.ask().judge().refusal?.rule).toBe("signature");
    }
  });

  test("counting tokens has the same rules", () => {
    const client = talk(2);
    client.path = "/v1/messages/count_tokens";
    expect(client.ask().judge().refusal).toBeUndefined();
    client.body.system = "Be bold.";
    expect(client.judge().refusal).toEqual(refusedAt("messages.1.content.0"));
  });

  test("with drop_block and its header, thinking behind a change is dropped and listed", () => {
    const client = talk(3);
    client.headers["anthropic-beta"] = `effort-2025-11-24, ${THINKING_CONTROLS}`;
    client.body.thinking = {
      type: "adaptive",
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    };
    client.change(2, ({ role, content }) => ({
      role,
      content: [{ ...(content as Fields[])[0], content: "cut" }],
    }));
    const dropped = [3, 5].map((at) => ({
      type: "thinking_dropped",
      path: `messages.${at}.content.0`,
      reason: "prefix_binding_mismatch",
    }));
    const { alive, transformations } = client.ask().judge();
    expect([alive.length, transformations]).toEqual([1, dropped]);
    // Thinking that is produced now is bound to the blocks that the model has seen.
    client.body.messages.pop();
    const { alive: later, lost } = client.go().ask().judge();
    expect([later.length, lost.length]).toEqual([2, 2]);
  });

  test("the setting without its header is an unknown field", () => {
    const client = talk(1);
    client.body.thinking = { type: "enabled", block_binding: { prefix_mismatch_behavior: "error" } };
    expect(client.ask().judge().refusal?.body).toMatchObject({
      error: { message: "thinking.enabled.block_binding: Extra inputs are not permitted" },
    });
  });

  test("an older account learns of changed prefixes only where it asks, but not for the newest models", () => {
    const asOlder = (model: string) => {
      const client = talk(2, new Client(new StrictProvider({ isOlder: true }), model));
      client.body.system = "Be bold.";
      return client.ask();
    };
    const silent = asOlder(MODEL);
    expect(silent.judge()).toMatchObject({ lost: [], alive: { length: 2 } });
    silent.headers["anthropic-beta"] = THINKING_CONTROLS;
    expect(silent.judge().transformations).toMatchObject([
      { type: "thinking_mismatch_allowed" },
      { type: "thinking_mismatch_allowed" },
    ]);
    silent.body.thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
    expect(silent.judge().refusal?.rule).toBe("thinking-binding");
    expect(asOlder("claude-fable-5-2").judge().refusal?.rule).toBe("thinking-binding");
  });

  test("older models do not check their thinking, and later models do", () => {
    const change = (model: string) => {
      const client = talk(2, new Client(new StrictProvider(), model));
      client.body.system = "Be bold.";
      return client.ask().judge().refusal?.rule;
    };
    expect(
      ["claude-sonnet-4-5", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-6", "claude-fable-5-1"].map(
        change,
      ),
    ).toEqual([undefined, undefined, "thinking-binding", "thinking-binding", "thinking-binding"]);
  });

  test("a model drops thinking that it cannot read, and reads it again when its writer is back", () => {
    const client = talk(2);
    client.body.model = "claude-sonnet-5-5";
    expect(client.ask().judge()).toMatchObject({ alive: [], lost: { length: 2 } });
    client.body.messages.pop();
    client.go();
    client.body.model = MODEL;
    const { refusal, alive, lost } = client.ask().judge();
    expect([refusal, alive.length, lost.length]).toEqual([undefined, 2, 1]);
  });

  test("a deferred tool is part of the prefix from where it is first referred to", () => {
    const client = talk(3);
    const deferred = { name: "calendar", defer_loading: true, input_schema: { type: "object" } };
    const addition = { type: "tool_addition", tool: { type: "tool_reference", name: "calendar" } };
    client.headers["anthropic-beta"] = "mid-conversation-tool-changes-2026-07-01";
    client.body.tools = [...TOOLS, deferred];
    client.ask();
    client.body.messages.push({ role: "system", content: [addition] });
    const judgement = client.judge();
    expect(judgement).toMatchObject({ lost: [], alive: { length: 3 } });
    const sealed = client.provider.seal(client.request, judgement, { reasoning: "Now with a calendar." });
    const thinking = { type: "thinking", thinking: "Now with a calendar.", signature: sealed.seal };
    client.body.messages.push({ role: "assistant", content: [thinking] }, { role: "user", content: "on" });
    expect(client.judge().refusal).toBeUndefined();
    client.body.tools = [...TOOLS, { ...deferred, description: "Another." }];
    expect(client.judge().refusal).toEqual(refusedAt("messages.8.content.0"));
  });

  test("a message that is cleared stays a part of the prefix", () => {
    const client = talk(2);
    client.headers["anthropic-beta"] = "mid-conversation-system-clear-at-2026-08-21";
    client.ask();
    client.body.messages.push({ role: "system", clear_at: "next_user_message", content: "Look at this." });
    const judgement = client.judge();
    const { seal } = client.provider.seal(client.request, judgement, { reasoning: "I looked." });
    const thinking = { type: "thinking", thinking: "I looked.", signature: seal };
    client.body.messages.push({ role: "assistant", content: [thinking] }, { role: "user", content: "on" });
    expect(client.judge()).toMatchObject({ lost: [], alive: { length: 3 } });
    client.body.messages.splice(-3, 1);
    expect(client.judge().refusal).toEqual(refusedAt("messages.5.content.0"));
  });

  test("a summary that the client asked for stands for what it sums up, and thinking behind it stays valid", () => {
    const client = talk(5);
    client.headers["anthropic-beta"] = "compact-2026-09-04";
    const kept = client.body.messages.splice(6);
    client.body.compaction = { type: "summarize" };
    const judgement = client.judge();
    expect(judgement.refusal).toBeUndefined();
    const compaction = { content: "Three steps were taken.", signature: "signed summary" };
    client.provider.seal(client.request, judgement, { compaction, finish: "compaction" });
    delete client.body.compaction;
    client.body.messages = [{ role: "assistant", content: [{ type: "compaction", ...compaction }] }, ...kept];
    client.ask();
    expect(client.judge()).toMatchObject({ lost: [], alive: { length: 2 } });
    client.change(1, (message) => ({ ...message, content: "something else" }));
    expect(client.judge().refusal).toEqual(refusedAt("messages.2.content.0"));
  });

  test("behind a summary that the provider made, what came before it may stay or leave", () => {
    const client = talk(3);
    client.body.messages.push({ role: "user", content: "go on" });
    const judgement = client.judge();
    const compaction = { content: "The provider's summary." };
    const said = { compaction, reasoning: "Where was I?", text: "Here." };
    const { seal } = client.provider.seal(client.request, judgement, said);
    const content = [
      { type: "compaction", ...compaction },
      { type: "thinking", thinking: "Where was I?", signature: seal },
      { type: "text", text: "Here." },
    ];
    client.body.messages.push({ role: "assistant", content }, { role: "user", content: "more" });
    expect(client.judge()).toMatchObject({ lost: [], alive: { length: 4 } });
    const tail = client.body.messages.slice(-2);
    client.body.messages = [{ role: "user", content: "a stub" }, ...tail];
    expect(client.judge()).toMatchObject({ lost: [], alive: { length: 1 } });
  });

  test.each<readonly [string, Fields, string | undefined, RegExp | undefined]>([
    ["an instruction", { content: "Mind this." }, undefined, undefined],
    [
      "a message that is cleared",
      { content: "Look.", clear_at: "next_user_message" },
      undefined,
      /clear_at: Extra inputs/,
    ],
    [
      "a cached message that is cleared",
      {
        content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }],
        clear_at: "next_user_message",
      },
      "mid-conversation-system-clear-at-2026-08-21",
      /cannot be cached/,
    ],
    [
      "a tool that is not declared",
      { content: [{ type: "tool_addition", tool: { type: "tool_reference", name: "none" } }] },
      "mid-conversation-tool-changes-2026-07-01",
      /none is not declared/,
    ],
    [
      "a definition without its beta",
      { content: [{ type: "tool_addition", tool: { type: "tool_definition", definition: { name: "x" } } }] },
      "mid-conversation-tool-changes-2026-07-01",
      /Extra inputs/,
    ],
  ])("%s in a system message is held against the rules", (_, message, beta, told) => {
    const client = talk(1);
    if (beta !== undefined) client.headers["anthropic-beta"] = beta;
    client.ask();
    client.body.messages.push({ role: "system", ...message });
    const { refusal } = client.judge();
    if (told) expect(JSON.stringify(refusal?.body)).toMatch(told);
    else expect(refusal).toBeUndefined();
  });

  test("a system message between a call and its result is refused", () => {
    const client = talk(1);
    client.body.messages.push({ role: "system", content: "Mind this." });
    client.body.messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "call_0", content: "late" }],
    });
    expect(client.judge().refusal?.rule).toBe("system-message");
  });
});
