import { expect, test } from "vitest";
import { encodeRecallTools, RECALL_TOOL } from "../../../../src/gateway/recall/recall-tools.ts";
import { runRecallCalls } from "../../../../src/gateway/reply/rounds/call-rounds.ts";

test("a model may ask for a careful recall, and gets a quick one otherwise", async () => {
  const depths: unknown[] = [];
  const memory = {
    recall: async (_: string, options: { readonly depth?: string } = {}) => {
      depths.push(options.depth);
      return "Nothing was found.";
    },
    expand: async () => "",
    save: async () => "",
  };
  const inputs = [{ query: "a" }, { query: "b", careful: true }, { query: "c", careful: "yes" }];
  await runRecallCalls(
    inputs.map((input, index) => ({ id: String(index), name: RECALL_TOOL, input })),
    {
      memory: memory as never,
      findInProject: () => undefined,
      session: "local/a",
      findShown: async () => new Set(),
      signal: new AbortController().signal,
      isLast: false,
    },
  );
  expect(depths).toEqual([undefined, "careful", undefined]);
  expect(JSON.stringify(encodeRecallTools("anthropic"))).toContain('"careful":{"type":"boolean"');
});
