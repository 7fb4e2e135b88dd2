import { describe, expect, test } from "vitest";
import {
  buildEditsKey,
  type ContextEdit,
  readContextManagement,
} from "../../../../src/server/gateway/request/request-fields.ts";
import { readRequests } from "../outgoing/recorded-elements.ts";
import { HAS_RECORDINGS } from "../recorded.ts";

const GATEWAY = { api: "anthropic", by: "gateway" } as const;
const read = (...edits: readonly unknown[]) => readContextManagement({ edits }, GATEWAY);
const faultOf = (...edits: readonly unknown[]) => {
  const result = read(...edits);
  return result.type === "fault" ? result.fault : undefined;
};

describe("context_management", () => {
  test("context_management has Anthropic's defaults", () => {
    const edits: readonly ContextEdit[] = [
      { type: "clear_thinking_20251015", keep: 1 },
      {
        type: "clear_tool_uses_20250919",
        trigger: { tokens: 100_000 },
        keep: 3,
        excludeTools: [],
        clearInputs: false,
      },
      { type: "compact_20260112", triggerTokens: 150_000, pausesAfter: false },
    ];
    expect(read(...edits.map(({ type }) => ({ type })))).toEqual({ type: "edits", edits });
  });

  test("context_management is read with all its settings, and null means unset", () => {
    const tool = {
      type: "clear_tool_uses_20250919",
      trigger: { type: "tool_uses", value: 20 },
      keep: { type: "tool_uses", value: 0 },
      clear_at_least: { type: "input_tokens", value: 5_000 },
      exclude_tools: ["memory"],
      clear_tool_inputs: ["write"],
    };
    const compact = {
      type: "compact_20260112",
      trigger: { type: "input_tokens", value: 50_000 },
      instructions: "keep the SQL",
      pause_after_compaction: true,
      cache_control: null,
    };
    expect(read(tool, compact)).toEqual({
      type: "edits",
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { calls: 20 },
          keep: 0,
          clearAtLeast: 5_000,
          excludeTools: ["memory"],
          clearInputs: ["write"],
        },
        {
          type: "compact_20260112",
          triggerTokens: 50_000,
          instructions: "keep the SQL",
          pausesAfter: true,
        },
      ],
    });
    expect(read({ type: "clear_tool_uses_20250919", clear_tool_inputs: true, trigger: null })).toMatchObject({
      edits: [{ clearInputs: true, trigger: { tokens: 100_000 } }],
    });
  });

  test.each([
    ["all", "all"],
    [{ type: "all" }, "all"],
    [{ type: "thinking_turns", value: 4 }, 4],
  ])("context_management keeps the thinking of as many turns as requested: %j", (keep, kept) => {
    expect(read({ type: "clear_thinking_20251015", keep })).toMatchObject({ edits: [{ keep: kept }] });
  });

  test.each([
    [{ type: "clear_everything_20270101" }, '"clear_everything_20270101" is no edit that this gateway can'],
    [{ type: "clear_tool_uses_20250919", keep: { type: "turns", value: 3 } }, "edits.0.keep: expected"],
    [
      { type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: -1 } },
      "edits.0.trigger: expected",
    ],
    [
      { type: "clear_tool_uses_20250919", exclude_tools: "memory" },
      "exclude_tools: expected a list of names",
    ],
    [
      { type: "clear_tool_uses_20250919", clear_tool_inputs: 1 },
      "clear_tool_inputs: expected true, false or a list of names",
    ],
    [
      { type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 0 } },
      "a whole number from 1 on",
    ],
    [
      { type: "compact_20260112", trigger: { type: "input_tokens", value: 49_999 } },
      "a whole number from 50000 on",
    ],
    ["compact", "edits.0: expected an object"],
    [{}, "edits.0.type: expected a text, got nothing"],
  ])(
    "a context_management that makes no sense is refused with its name and the remedy: %j",
    (edit, message) => {
      expect(faultOf(edit)).toMatchObject({ status: 400, kind: "invalid_request" });
      expect(faultOf(edit)?.message).toContain(message);
    },
  );

  test("context_management is refused if it repeats an edit or has the wrong form", () => {
    const edit = { type: "compact_20260112" };
    expect(faultOf(edit, edit)?.message).toContain("compact_20260112 is there twice");
    expect(readContextManagement([], GATEWAY)).toMatchObject({ type: "fault" });
    expect(readContextManagement({ edits: {} }, GATEWAY)).toMatchObject({ type: "fault" });
  });

  test("context_management is passed on, whatever it says, if the upstream carries it out", () => {
    const value = { edits: [{ type: "clear_everything_20270101" }] };
    expect(readContextManagement(value, { api: "anthropic", by: "upstream" })).toEqual({ type: "none" });
    expect(readContextManagement(undefined, GATEWAY)).toEqual({ type: "none" });
    expect(readContextManagement(null, GATEWAY)).toEqual({ type: "none" });
  });

  test("OpenAI's own kind of context_management is passed on, and Anthropic's kind works there too", () => {
    const own = [{ type: "compaction", compact_threshold: 200_000 }];
    const options = { api: "openai-responses", by: "gateway" } as const;
    expect(readContextManagement(own, options)).toEqual({ type: "none" });
    expect(readContextManagement({ edits: [{ type: "compact_20260112" }] }, options)).toMatchObject({
      edits: [{ triggerTokens: 150_000 }],
    });
  });

  test("equal edits have the same key", () => {
    expect(buildEditsKey([])).toBe("");
    const key = (keep: number) => buildEditsKey([{ type: "clear_thinking_20251015", keep }]);
    expect(key(1)).toBe(key(1));
    expect(key(1)).not.toBe(key(2));
  });

  test.skipIf(!HAS_RECORDINGS)("the context_management of real clients can be read", () => {
    const results = readRequests().map(({ body, api }) =>
      readContextManagement(body.context_management, { api, by: "gateway" }),
    );
    expect(results.filter(({ type }) => type === "fault")).toEqual([]);
    expect(results.filter(({ type }) => type === "edits").length).toBeGreaterThan(5);
  });
});
