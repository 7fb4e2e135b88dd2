import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, type ModelMessage, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { output } from "../limited.ts";
import { expectPlain, heardBy, startCounting, TRIGGER } from "./summaries.ts";

const TURNS = 20;

function longMessages(): ModelMessage[] {
  return Array.from({ length: TURNS }, (_, turn): ModelMessage[] => [
    { role: "user", content: `Question ${turn}: what does this say?\n${output(turn + 1, 8_000)}` },
    { role: "assistant", content: `It says ${turn}.` },
  ]).flat();
}

describe("a client of the AI SDK that asks for summaries", () => {
  test("a client of the AI SDK that asks for summaries reads them, streamed and whole, and sends them back", async () => {
    const upstream = await startCounting();
    const gateway = await startGateway({ upstream: upstream.url });
    const model = createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: "key" })("claude-sonnet-4-5");
    const trigger = { type: "input_tokens", value: TRIGGER } as const;
    const contextManagement = { edits: [{ type: "compact_20260112", trigger }] } as const;
    const providerOptions = { anthropic: { contextManagement } } as never;
    const messages: ModelMessage[] = [...longMessages(), { role: "user", content: "What is the sum?" }];
    const streamed = streamText({ model, messages, providerOptions });
    const whole = await streamed.text;
    expect(whole).toContain("[Summary of the conversation so far]");
    expect(whole.endsWith("Answer 0.")).toBe(true);
    expect((await streamed.usage).outputTokens).toBe(7);
    messages.push(...(await streamed.response).messages, { role: "user", content: "And the difference?" });
    const next = await generateText({ model, messages, providerOptions });
    expect(next.text).toBe("Answer 1.");
    const sent = await upstream.received(2);
    expect(sent.body.toString()).not.toContain('"compaction"');
    expectPlain(upstream);
    expect(heardBy(upstream).length).toBeLessThan(TURNS);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });
});
