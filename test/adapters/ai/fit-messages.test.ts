import type { ModelMessage } from "ai";
import { describe, expect, test } from "vitest";
import { fitMessages } from "../../../src/adapters/ai/index.ts";
import type { Message } from "../../../src/kernel/index.ts";
import { anthropicClearPolicy } from "../../../src/window/policies/known-policies.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofTest } from "../../support/proof.ts";

const options = { model: "some-model", models: { "some-model": { window: 16_000 } } };

const words = (turn: number) =>
  Array.from(
    { length: 25 },
    (_, line) => `const value${turn}_${line} = ${turn * 31 + line}; // in part-${turn}.ts`,
  ).join("\n");

type Foreign = { readonly [field: string]: unknown };

/** An agent's conversation of `steps` steps, in each format. */
const DIALECTS: Readonly<Record<string, (steps: number) => Foreign[]>> = {
  "AI SDK": (steps) => [
    { role: "system", content: "You read files." },
    {
      role: "user",
      content: [
        { type: "text", text: "Read all of it." },
        { type: "file", data: PIXEL_PNG, mediaType: "image/png" },
      ],
    },
    ...Array.from({ length: steps }, (_, step): ModelMessage[] => [
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: `c${step}`, toolName: "read", input: { path: `part-${step}.ts` } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: `c${step}`,
            toolName: "read",
            output: { type: "text", value: words(step) },
          },
        ],
      },
    ]).flat(),
  ],
  OpenAI: (steps) => [
    { role: "system", content: "You read files." },
    { role: "user", content: "Read all of it." },
    ...Array.from({ length: steps }, (_, step): Foreign[] => [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: `c${step}`,
            type: "function",
            function: { name: "read", arguments: `{"path":"part-${step}.ts"}` },
          },
        ],
      },
      { role: "tool", tool_call_id: `c${step}`, content: words(step) },
    ]).flat(),
  ],
  Anthropic: (steps) => [
    { role: "user", content: "Read all of it." },
    ...Array.from({ length: steps }, (_, step): Foreign[] => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `c${step}`, name: "read", input: { path: `part-${step}.ts` } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `c${step}`, content: words(step) }] },
    ]).flat(),
  ],
  longhaul: (steps) => [
    { role: "user", parts: [{ type: "text", text: "Read all of it." }] },
    ...Array.from({ length: steps }, (_, step): Foreign[] => [
      {
        role: "assistant",
        parts: [{ type: "tool-call", callId: `c${step}`, name: "read", input: { path: `part-${step}.ts` } }],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: `c${step}`, output: [{ type: "text", text: words(step) }] }],
      },
    ]).flat(),
  ],
};

/** A message's result replaced by the text that exports write for a missing one. */
function missing({ content }: Foreign): Foreign {
  const [part] = content as readonly Foreign[];
  return { ...part, output: { type: "error-text", value: "[no result recorded]" } };
}

/** Ids of calls and results in any format. */
function idsOf(messages: readonly Foreign[]) {
  const text = JSON.stringify(messages);
  const isResult = /(?:"type":"tool-result","(?:toolCallId|callId)"|"tool_call_id"|"tool_use_id"):"(c\d+)"/g;
  const isCall =
    /(?:"type":"tool-call","(?:toolCallId|callId)"|"tool_calls":\[\{"id"|"type":"tool_use","id"):"(c\d+)"/g;
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]);
  return { calls: found(isCall), results: found(isResult) };
}

describe.each(Object.entries(DIALECTS))("fitting messages of %s", (_, talk) => {
  test("messages that fit come back as the very same objects", async () => {
    const messages = talk(5);
    const fitted = await fitMessages(messages, options);
    expect(fitted).toHaveLength(messages.length);
    for (const [index, message] of fitted.entries()) expect(message).toBe(messages[index]);
  });

  test("fewer messages come back if not all fit, in the same format and each call with its result", async () => {
    const messages = talk(120);
    const fitted = await fitMessages(messages, options);
    // The estimate of plain JSON exceeds that of the messages.
    expect(JSON.stringify(fitted).length / 4).toBeLessThan(16_000 * 1.3);
    expect(JSON.stringify(fitted).length).toBeLessThan(JSON.stringify(messages).length / 2);
    const { calls, results } = idsOf(fitted);
    expect(calls).toEqual(results);
    expect(calls.length).toBeGreaterThan(0);
    expect(fitted.at(-1)).toBe(messages.at(-1));
    expect(JSON.stringify(fitted)).toContain("Read all of it.");
    expect(fitted.filter((message) => !messages.includes(message)).length).toBeLessThan(10);
  });

  proofTest("fitting a conversation that has grown mostly keeps the beginning as it was", async () => {
    let changes = 0;
    let before = JSON.stringify(await fitMessages(talk(60), options));
    for (let steps = 61; steps <= 90; steps++) {
      const after = JSON.stringify(await fitMessages(talk(steps), options));
      if (!after.startsWith(before.slice(0, -1))) changes++;
      before = after;
    }
    expect(changes).toBeLessThan(10);
  });
});

describe("fitting messages", () => {
  test("fitting keeps system messages at the beginning", async () => {
    const fitted = await fitMessages(DIALECTS.OpenAI?.(120) ?? [], options);
    expect(fitted[0]).toEqual({ role: "system", content: "You read files." });
  });

  test("fitting returns the newest message whole, or throws an error if the message exceeds the window", async () => {
    const messages = [{ role: "user", content: "word ".repeat(30_000) }];
    expect(await fitMessages(messages, options)).toEqual(messages);
    const talk = [
      ...messages,
      { role: "assistant", content: "I see." },
      { role: "user", content: "And what follows from it?" },
    ];
    const fitted = await fitMessages(talk, options);
    expect(JSON.stringify(fitted).length).toBeLessThan(16_000 * 5);
    expect(fitted.at(-1)).toEqual(talk.at(-1));
    await expect(fitMessages(messages, { ...options, oversize: "error" })).rejects.toMatchObject({
      code: "WINDOW_FLOOR",
    });
  });

  test("fitting longhaul's own messages stays within the window by longhaul's own estimate", async () => {
    const fitted = (await fitMessages(
      DIALECTS.longhaul?.(200) ?? [],
      options,
    )) as unknown as readonly Message[];
    expect(fitted.reduce((sum, message) => sum + estimateMessage(message), 0)).toBeLessThanOrEqual(14_000);
  });

  test("fitting refuses messages of a user interface, and says how to convert them", async () => {
    const messages = [
      {
        id: "1",
        role: "assistant",
        parts: [{ type: "tool-weather", toolCallId: "c", state: "output-available" }],
      },
    ];
    await expect(fitMessages(messages, options)).rejects.toThrow("convertToModelMessages");
  });

  test("fitting refuses streams as media, with a typed error", async () => {
    const data = (async function* () {
      yield Buffer.from("bytes");
    })();
    const messages = [{ role: "user", parts: [{ type: "data", mime: "image/png", data }] }];
    await expect(fitMessages(messages, options)).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      details: { argument: "messages" },
    });
  });

  test("fitting keeps the note about a missing tool result", async () => {
    const messages = DIALECTS["AI SDK"]?.(120) ?? [];
    const denied = messages.map((message, index) =>
      index % 20 === 19 && message.role === "tool" ? { role: "tool", content: [missing(message)] } : message,
    );
    const { calls, results } = idsOf(await fitMessages([...denied], options));
    expect(calls).toEqual(results);
  });

  test("fitting leaves an empty conversation empty", async () => {
    expect(await fitMessages([], options)).toEqual([]);
  });
});

const large = (step: number) => ({ path: `part-${step}.ts`, content: words(step).repeat(10) });

/** Calls with large inputs, in each format. */
const WRITING: Readonly<Record<string, (step: number) => Foreign[]>> = {
  "AI SDK": (step) => [
    {
      role: "assistant",
      content: [
        {
          type: "tool-call",
          toolCallId: `c${step}`,
          toolName: "write",
          input: large(step),
          providerOptions: { google: { thoughtSignature: `signature ${step}` } },
        },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: `c${step}`,
          toolName: "write",
          output: { type: "text", value: "Written." },
        },
      ],
    },
  ],
  OpenAI: (step) => [
    {
      role: "assistant",
      content: null,
      reasoning_content: `reasoning ${step}`,
      tool_calls: [
        {
          id: `c${step}`,
          type: "function",
          function: { name: "write", arguments: JSON.stringify(large(step)) },
          extra_content: { google: { thought_signature: `signature ${step}` } },
        },
      ],
    },
    { role: "tool", tool_call_id: `c${step}`, content: "Written." },
  ],
  "OpenAI, custom tools": (step) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: `c${step}`, type: "custom", custom: { name: "write", input: words(step).repeat(10) } },
      ],
    },
    { role: "tool", tool_call_id: `c${step}`, content: "Written." },
  ],
  "OpenAI, functions": (step) => [
    {
      role: "assistant",
      content: null,
      function_call: { name: "write", arguments: JSON.stringify(large(step)) },
    },
    { role: "function", name: "write", content: "Written." },
  ],
  Anthropic: (step) => [
    {
      role: "assistant",
      content: [{ type: "tool_use", id: `c${step}`, name: "write", input: large(step) }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `c${step}`, content: "Written." }] },
  ],
};

describe.each(Object.entries(WRITING))("clearing tool inputs of %s", (_, step) => {
  test("clearing tool inputs replaces only the inputs by stubs and keeps every other field", async () => {
    const policy = anthropicClearPolicy({ trigger: { calls: 0 }, clearInputs: true, keep: 1 });
    const messages = [{ role: "user", content: "Write it." }, ...[0, 1, 2, 3].flatMap(step)];
    const fitted = await fitMessages(messages, { ...options, policy });
    expect(fitted).toHaveLength(messages.length);
    const isOlderCall = (index: number) => index % 2 === 1 && index < 7;
    for (const [index, message] of fitted.entries()) {
      if (!isOlderCall(index)) expect(message).toBe(messages[index]);
      else {
        const text = JSON.stringify(message);
        expect(text).toContain("The input (");
        expect(text.length).toBeLessThan(400);
        expect(withoutInput(message)).toEqual(withoutInput(messages[index] as Foreign));
      }
    }
  });
});

/** A message whose calls have no input. */
function withoutInput(message: Foreign): unknown {
  return JSON.parse(
    JSON.stringify(message, (field, value) =>
      field === "arguments" || field === "input" ? undefined : value,
    ),
  );
}
