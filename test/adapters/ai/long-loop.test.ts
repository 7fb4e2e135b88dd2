import { isStepCount, streamText, tool } from "ai";
import { describe, expect } from "vitest";
import { z } from "zod";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { APIS, lineOf, logOf, reply, speaking } from "./speaking.ts";

const STEPS = 40;

/** Ids of calls and results in the order of a request. */
function idsIn(body: string) {
  const isCall = /"type":"tool_use","id":"(c\d+)"|"call_id":"(c\d+)","name"|"tool_calls":\[\{"id":"(c\d+)"/g;
  const isResult =
    /"tool_use_id":"(c\d+)"|"type":"function_call_output","call_id":"(c\d+)"|"tool_call_id":"(c\d+)"/g;
  const found = (pattern: RegExp) =>
    [...body.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3]);
  return { calls: found(isCall), results: found(isResult) };
}

describe("a long streamed tool loop in a small window", () => {
  sizedTest.each(
    proofCases(
      APIS.flatMap((api) => (["caller", "session"] as const).map((history) => [api, history] as const)),
      2,
    ),
  )(
    "a long streamed tool loop ends with every result behind its call and all of it in the log: %s, history kept by the %s",
    async (api, history) => {
      const { session, kernel, plain } = await speaking();
      let asked = 0;
      const largest = { tokens: 0 };
      const model = plain(api, (body) => {
        const tokens = Math.ceil(body.length / 4);
        largest.tokens = Math.max(largest.tokens, tokens);
        const { calls, results } = idsIn(body);
        // Requests to OpenAI's own server refer to calls by item, so only results appear there.
        if (api !== "openai-responses") expect(results).toEqual(calls);
        asked++;
        const usage = { input: tokens, output: 30 };
        if (asked > STEPS) return reply({ text: "All read.", reasoning: "That was it.", usage });
        return reply({
          usage,
          reasoning: `I shall read part ${asked}.`,
          toolCalls: [{ id: `c${asked}`, name: "read", input: { file: `part-${asked}.ts` } }],
        });
      });
      const read = tool({
        inputSchema: z.object({ file: z.string() }),
        execute: async ({ file }) =>
          Array.from({ length: 40 }, (_, line) => `export const value${line} = "${file} ${line}";`).join(
            "\n",
          ),
      });
      const models = { "*": { window: 16_000 } };
      const { text } = streamText({
        model: withLonghaul(model, { session, history, blobs: kernel.blobs, models }),
        tools: { read },
        stopWhen: isStepCount(STEPS + 2),
        maxRetries: 0,
        instructions: "You read files.",
        prompt: "Read all parts.",
      });
      expect(await text).toBe("All read.");
      expect(largest.tokens).toBeLessThan(16_000);
      const line = await lineOf(session);
      expect(line).toHaveLength(2 * STEPS + 2);
      const log = await logOf(session);
      expect(log.filter(({ kind }) => kind === "message")).toHaveLength(2 * STEPS + 2);
      expect(log.filter(({ kind }) => kind === "overlay").length).toBeGreaterThan(0);
      expect(log.filter(({ kind }) => kind === "line")).toEqual([]);
    },
  );
});
