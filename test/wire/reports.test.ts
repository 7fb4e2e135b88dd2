import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectOverflow } from "../../src/window/limits/overflow.ts";
import { readFailureReply } from "../../src/wire/replies/read-failure.ts";
import type { WireFault, WireName } from "../../src/wire/wire.ts";
import { getWire, WIRES } from "../../src/wire/wires.ts";
import { readerOf, spoken, spokenWhole } from "./spoken.ts";

const counts = fc.record({
  input: fc.nat(300_000),
  output: fc.integer({ min: 1, max: 10_000 }),
  cacheRead: fc.nat(300_000),
  cacheWrite: fc.nat(50_000),
});

describe.each(WIRES.map((api) => [api.name, api] as const))("usage that %s reports", (name, api) => {
  test("reported usage is lowered to the maximum for a client, in events and bodies, and otherwise unchanged", () => {
    fc.assert(
      fc.property(counts, fc.nat(400_000), (usage, most) => {
        const before = usage.input + usage.cacheRead + usage.cacheWrite;
        const wanted = Math.min(before, most);
        const capped = spoken(name, { text: "Hi.", usage }).map((event) => {
          const data = api.capUsage(event.data, most);
          if (before <= most) expect(data).toBeUndefined();
          return { ...event, data: data ?? event.data };
        });
        const body = spokenWhole(name, { text: "Hi.", usage });
        const whole = api.createReader();
        whole.takeWhole(api.capUsage(body, most) ?? body);
        for (const reader of [readerOf(name, capped), whole]) {
          const {
            inputTokens = 0,
            cacheReadTokens = 0,
            cacheWriteTokens = 0,
            outputTokens,
          } = reader.usage ?? {};
          expect(inputTokens + cacheReadTokens + cacheWriteTokens).toBe(wanted);
          expect(outputTokens).toBe(usage.output);
          expect(reader.message()?.parts).toMatchObject([{ type: "text", text: "Hi." }]);
        }
      }),
    );
  });

  test("lowered usage adds up", () => {
    const usage = { input: 10, output: 5, cacheRead: 150_001, cacheWrite: 77, cacheWriteHour: 33 };
    const body = JSON.parse(api.capUsage(spokenWhole(name, { text: "Hi.", usage }), 1_000) ?? "{}");
    const google = body.usageMetadata;
    if (google) {
      expect([google.promptTokenCount, google.totalTokenCount]).toEqual([1_000, 1_005]);
      expect(google.cachedContentTokenCount).toBeLessThanOrEqual(1_000);
      return;
    }
    const { input_tokens, prompt_tokens, total_tokens, cache_creation, cache_creation_input_tokens } =
      body.usage;
    if (total_tokens !== undefined) {
      expect(input_tokens ?? prompt_tokens).toBe(1_000);
      expect(total_tokens).toBe(1_005);
    } else {
      const { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = cache_creation;
      expect(ephemeral_5m_input_tokens + ephemeral_1h_input_tokens).toBe(cache_creation_input_tokens);
    }
  });

  test("usage is lowered only inside reports", () => {
    expect(api.capUsage("[DONE]", 1)).toBeUndefined();
    expect(api.capUsage('{"input_tokens":', 1)).toBeUndefined();
    expect(api.capUsage('{"usage":null,"x_tokens":9}', 1)).toBeUndefined();
  });
});

const KINDS: readonly WireFault["kind"][] = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "too_large",
  "overflow",
  "rate_limit",
  "stopped",
  "unavailable",
  "timeout",
  "internal",
];

describe.each<WireName>(["anthropic", "openai-chat", "openai-responses"])("a fault of %s", (name) => {
  const api = getWire(name);

  test("the fault of a provider is read by the provider's own reader, as a body and inside a stream", () => {
    for (const kind of KINDS) {
      const fault: WireFault = { status: 400, kind, message: "The gateway says why." };
      const whole = api.createReader();
      whole.takeWhole(JSON.stringify(api.encodeFault(fault)));
      const inside = api.createReader();
      for (const block of api.encodeFaultEvent(fault).split("\n\n").filter(Boolean)) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        inside.take({ ...(event !== undefined && { event }), data: /^data: (.*)$/m.exec(block)?.[1] ?? "" });
      }
      for (const { failure, isComplete } of [whole, inside]) {
        expect(failure?.message).toContain("The gateway says why.");
        expect(isComplete).toBe(false);
      }
    }
  });

  test("the fault of a provider is recognized as an overflow only if it is one", () => {
    // "too_large" is excluded: for a client that can shrink its request it is an overflow too.
    for (const kind of KINDS.filter((one) => one !== "too_large")) {
      const fault: WireFault = {
        status: kind === "overflow" ? 400 : 503,
        kind,
        message: "It takes 9 tokens too many.",
      };
      const failure = readFailureReply(fault.status, JSON.stringify(api.encodeFault(fault)));
      expect(detectOverflow(failure) !== undefined, kind).toBe(kind === "overflow");
      expect(detectOverflow({ body: api.encodeFaultEvent(fault) }) !== undefined, kind).toBe(
        kind === "overflow",
      );
    }
  });

  test("the fault of a provider keeps the provider's own message of an overflow", () => {
    const own = "prompt is too long: 214731 tokens > 200000 maximum";
    const openai =
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.";
    const message = name === "anthropic" ? own : openai;
    expect(JSON.stringify(api.encodeFault({ status: 400, kind: "overflow", message }))).toContain(
      `"${message}"`,
    );
  });
});
