import { describe, expect, test } from "vitest";
import type { Fields, Judgement } from "./judgement.ts";
import { StrictProvider } from "./strict-provider.ts";

const header = () => undefined;

/** Judges a request, and seals a reply to it unless it is refused. */
function exchange(
  provider: StrictProvider,
  path: string,
  body: Fields,
  reply: Parameters<StrictProvider["seal"]>[2] = { reasoning: "Hm." },
): Judgement & { readonly seal: string | undefined } {
  const request = { path, body, header };
  const judgement = provider.judge(request);
  if (judgement.refusal) return { ...judgement, seal: undefined };
  return { ...judgement, seal: provider.seal(request, judgement, reply).seal };
}

const messageOf = (judgement: Judgement) => Object(judgement.refusal?.body).error?.message;

describe("reasoning items of the Responses API", () => {
  const PATH = "/v1/responses";
  const call = (id: string) => ({ id, name: "read", input: { id } });
  const items = (seal: string | undefined, id: string, rest: Fields = {}): Fields[] => [
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: seal },
    { type: "function_call", call_id: id, name: "read", arguments: JSON.stringify({ id }), ...rest },
    { type: "function_call_output", call_id: id, output: `output of ${id}` },
  ];

  /** Two rounds of calls, and the body of the third request. */
  function twoRounds() {
    const provider = new StrictProvider();
    const base = { model: "gpt-6.1-sol", instructions: "Be careful.", tools: [{ name: "read" }] };
    const question = { role: "user", content: [{ type: "input_text", text: "Read it." }] };
    const first = exchange(
      provider,
      PATH,
      { ...base, input: [question] },
      { reasoning: "a", toolCalls: [call("c1")] },
    );
    const one = items(first.seal, "c1");
    const second = exchange(
      provider,
      PATH,
      { ...base, input: [question, ...one] },
      { reasoning: "b", toolCalls: [call("c2")] },
    );
    const input: Fields[] = [question, ...one, ...items(second.seal, "c2")];
    return { provider, body: { ...base, input } };
  }

  test("reasoning stays alive while the items before it stay, whatever ids and statuses say", () => {
    const { provider, body } = twoRounds();
    const input = body.input.map((item) => (item.role ? { ...item, status: "completed" } : item));
    expect(exchange(provider, PATH, { ...body, input })).toMatchObject({ lost: [], alive: { length: 2 } });
  });

  test.each<readonly [string, number, (body: { input: Fields[] } & Fields) => object]>([
    ["instructions change", 0, () => ({ instructions: "Be bold." })],
    ["tools change", 0, () => ({ tools: [{ name: "read" }, { name: "recall" }] })],
    ["the format changes", 0, () => ({ text: { format: { type: "json_object" } } })],
    [
      "an output is shortened",
      1,
      ({ input }) => ({ input: input.map((item, at) => (at === 3 ? { ...item, output: "cut" } : item)) }),
    ],
    [
      "a note comes between",
      1,
      ({ input }) => ({ input: input.toSpliced(4, 0, { role: "user", content: "note" }) }),
    ],
  ])("reasoning behind a change is lost without an error if %s", (_, alive, change) => {
    const { provider, body } = twoRounds();
    const judged = exchange(provider, PATH, { ...body, ...change(body) });
    expect(judged.refusal).toBeUndefined();
    expect([judged.alive.length, judged.lost.length]).toEqual([alive, 2 - alive]);
  });

  test("tools that are appended as an item change no reasoning, and their loss does", () => {
    const { provider, body } = twoRounds();
    const added = { type: "additional_tools", role: "developer", tools: [{ name: "search" }] };
    const input: Fields[] = [...body.input, added];
    const { alive, seal } = exchange(
      provider,
      PATH,
      { ...body, input },
      { reasoning: "c", toolCalls: [call("c3")] },
    );
    expect(alive).toHaveLength(2);
    const later = [...input, ...items(seal, "c3")];
    expect(exchange(provider, PATH, { ...body, input: later }).alive).toHaveLength(3);
    const without = later.filter(({ type }) => type !== "additional_tools");
    expect(exchange(provider, PATH, { ...body, input: without })).toMatchObject({ alive: { length: 2 } });
  });

  test("with current_turn, the model sees only the reasoning since the last words of the user", () => {
    const { provider, body } = twoRounds();
    const next = { ...body, reasoning: { context: "current_turn" } };
    expect(exchange(provider, PATH, next).alive).toHaveLength(2);
    const input = [...body.input, { role: "user", content: "Go on." }];
    expect(exchange(provider, PATH, { ...next, input }).alive).toEqual([]);
  });

  test("an earlier response stands for its items", () => {
    const provider = new StrictProvider();
    const base = { model: "gpt-6.1-sol", tools: [] };
    const request = { path: PATH, body: { ...base, input: "Read it." }, header };
    const judgement = provider.judge(request);
    const sealed = provider.seal(request, judgement, { reasoning: "a", toolCalls: [call("c1")] });
    const input = [{ type: "function_call_output", call_id: "c1", output: "x" }];
    const judged = exchange(provider, PATH, { ...base, previous_response_id: sealed.id, input });
    expect(judged).toMatchObject({ lost: [], alive: [sealed.seal] });
  });

  test("reasoning without its call, a call with an id without its reasoning, and foreign reasoning are refused", () => {
    const { provider, body } = twoRounds();
    const without = (index: number) => ({ ...body, input: body.input.toSpliced(index, 1) });
    const orphan = { ...body, input: body.input.slice(0, 2) };
    expect(messageOf(exchange(provider, PATH, orphan))).toContain("without its required following item");
    const named = body.input.map((item) => (item.type === "function_call" ? { ...item, id: "fc_1" } : item));
    expect(exchange(provider, PATH, { ...body, input: named }).refusal).toBeUndefined();
    const lone = exchange(provider, PATH, { ...body, input: named.toSpliced(1, 1) });
    expect(messageOf(lone)).toContain("without its required 'reasoning' item");
    expect(exchange(provider, PATH, without(1)).refusal).toBeUndefined();
    const foreign = body.input.map((item) =>
      item.type === "reasoning" ? { ...item, encrypted_content: "foreign" } : item,
    );
    expect(messageOf(exchange(provider, PATH, { ...body, input: foreign }))).toContain(
      "could not be verified",
    );
  });
});

describe("thought signatures of Google", () => {
  const PATH = "/v1beta/models/gemini-3-pro:generateContent";
  const said = (text: string) => ({ role: "user", parts: [{ text }] });
  const called = (thoughtSignature: string | undefined, n: number) => ({
    role: "model",
    parts: [{ functionCall: { name: "read", args: { n } }, ...(thoughtSignature && { thoughtSignature }) }],
  });
  const result = (n: number) => ({
    role: "user",
    parts: [{ functionResponse: { name: "read", response: { output: `output ${n}` } } }],
  });
  const toolCalls = (n: number) => [{ id: `c${n}`, name: "read", input: { n } }];

  function oneRound() {
    const provider = new StrictProvider();
    const first = exchange(provider, PATH, { contents: [said("Read it.")] }, { toolCalls: toolCalls(1) });
    return { provider, contents: [said("Read it."), called(first.seal, 1), result(1)] };
  }

  test("every step of the current turn needs the signature of its first call, and earlier turns need none", () => {
    const { provider, contents } = oneRound();
    expect(exchange(provider, PATH, { contents })).toMatchObject({ alive: { length: 1 } });
    const bare = [contents[0], called(undefined, 1), contents[2]];
    const refused = exchange(provider, PATH, { contents: bare });
    expect(messageOf(refused)).toContain("missing a thought_signature");
    expect(messageOf(refused)).toContain("default_api:read");
    expect(exchange(provider, PATH, { contents: [...bare, said("Go on.")] }).refusal).toBeUndefined();
  });

  test("a signature at another call, and one that was never given out, are refused", () => {
    const { provider, contents } = oneRound();
    const { thoughtSignature } = Object(contents[1]?.parts[0]);
    for (const wrong of [called(thoughtSignature, 2), called("made up", 1)]) {
      const refused = exchange(provider, PATH, { contents: [contents[0], wrong, contents[2]] });
      expect(messageOf(refused)).toBe("Thought signature is not valid.");
    }
  });
});

describe("reasoning in fields of Chat Completions", () => {
  const PATH = "/v1/chat/completions";
  const tools = [{ type: "function", function: { name: "read" } }];
  const calls = [{ id: "c1", type: "function", function: { name: "read", arguments: '{"n":1}' } }];
  const result = { role: "tool", tool_call_id: "c1", content: "output" };

  /** One round of a call and an answer in words, with the reasoning as the provider gave it out. */
  function twoReplies(model: string) {
    const provider = new StrictProvider();
    const question = { role: "user", content: "Read it." };
    const body = { model, tools, messages: [question] };
    const first = exchange(provider, PATH, body, {
      reasoning: "thought one",
      toolCalls: [{ id: "c1", name: "read", input: { n: 1 } }],
    });
    const field = (seal: string | undefined, text: string) =>
      model.includes("/")
        ? {
            reasoning_details: [
              { type: "reasoning.encrypted", data: seal, format: "openai-responses-v1", index: 0 },
            ],
          }
        : { reasoning_content: text };
    const asked = {
      role: "assistant",
      content: null,
      tool_calls: calls,
      ...field(first.seal, "thought one"),
    };
    const second = exchange(
      provider,
      PATH,
      { ...body, messages: [question, asked, result] },
      { reasoning: "thought two", text: "Done." },
    );
    const answered = { role: "assistant", content: "Done.", ...field(second.seal, "thought two") };
    const messages: Fields[] = [question, asked, result, answered, { role: "user", content: "More." }];
    return { provider, body: { model, tools, messages } };
  }
  const bare = (message: Fields) => {
    const { reasoning_content: _, reasoning_details: __, ...rest } = message;
    return rest;
  };

  test.each(["deepseek-v4-pro", "deepseek-v3.2", "kimi-k2.7-code", "glm-4.7", "x-ai/grok-5", "qwen3.5"])(
    "%s accepts a conversation that came back as it was",
    (model) => {
      const { provider, body } = twoReplies(model);
      expect(exchange(provider, PATH, body)).toMatchObject({ lost: [], alive: { length: 2 } });
    },
  );

  test.each<readonly [string, number, RegExp | undefined]>([
    ["deepseek-v4-pro", 1, /must be passed back to the API/],
    ["deepseek-v4-pro", 3, /must be passed back to the API/],
    ["deepseek-v3.2", 3, /Missing `reasoning_content` field in the assistant message at message index 3/],
    ["kimi-k2.7-code", 1, /reasoning_content is missing in assistant tool call message at index 1/],
    ["kimi-k2.7-code", 3, undefined],
    ["glm-4.7", 1, undefined],
    ["x-ai/grok-5", 1, undefined],
  ])("%s without the reasoning of message %i", (model, index, told) => {
    const { provider, body } = twoReplies(model);
    const messages = body.messages.map((message, at) => (at === index ? bare(message) : message));
    const judged = exchange(provider, PATH, { ...body, messages });
    if (told) expect(messageOf(judged)).toMatch(told);
    else expect(judged).toMatchObject({ alive: { length: 1 }, lost: [{ reason: "left_out" }] });
  });

  test("DeepSeek takes an empty field for reasoning, and needs none without tools", () => {
    const { provider, body } = twoReplies("deepseek-v4-pro");
    const empty = body.messages.map((one) =>
      one.role === "assistant" ? { ...one, reasoning_content: "" } : one,
    );
    expect(exchange(provider, PATH, { ...body, messages: empty }).refusal).toBeUndefined();
    const messages = body.messages.map(bare);
    expect(exchange(provider, PATH, { ...body, tools: [], messages }).refusal).toBeUndefined();
  });

  test("DeepSeek R1 refuses reasoning that comes back", () => {
    const { provider, body } = twoReplies("deepseek-v4-pro");
    expect(messageOf(exchange(provider, PATH, { ...body, model: "deepseek-r1" }))).toContain(
      "must not be sent back",
    );
  });

  test("OpenRouter refuses details that stand at another reply", () => {
    const { provider, body } = twoReplies("x-ai/grok-5");
    const { reasoning_details } = body.messages[1] as Fields;
    const messages = body.messages.map((one, at) => (at === 3 ? { ...one, reasoning_details } : one));
    expect(messageOf(exchange(provider, PATH, { ...body, messages }))).toContain("Invalid signature");
  });

  test("GLM counts changed reasoning as lost", () => {
    const { provider, body } = twoReplies("glm-4.7");
    const messages = body.messages.map((one, at) => (at === 1 ? { ...one, reasoning_content: "cut" } : one));
    expect(exchange(provider, PATH, { ...body, messages }).lost).toMatchObject([{ reason: "changed" }]);
  });
});
