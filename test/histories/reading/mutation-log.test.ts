import { describe, expect, test } from "vitest";
import { applyMutation } from "../../../src/histories/agents/vscode-chat-format.ts";
import type { JsonObject } from "../../../src/histories/reading/json-lines.ts";

/** Applies lines in order; returns the document and the sentences about lines that could not be applied. */
function replay(...lines: readonly JsonObject[]) {
  let state: unknown;
  const faults = lines.flatMap((line) => {
    const fault = applyMutation(line, state, (next) => {
      state = next;
    });
    return fault === undefined ? [] : [fault];
  });
  return { state, faults };
}

describe("a mutation log", () => {
  test("a mutation log applies its initial value, sets, appends, cuts and deletions", () => {
    const { state, faults } = replay(
      { kind: 0, v: { list: [{ text: "a" }], gone: 1 } },
      { kind: 1, k: ["list", 0, "text"], v: "b" },
      { kind: 2, k: ["list"], v: [{ text: "c" }, { text: "d" }] },
      { kind: 2, k: ["list"], v: [{ text: "e" }], i: 2 },
      { kind: 2, k: ["new"], v: [1] },
      { kind: 3, k: ["gone"] },
    );
    expect(faults).toEqual([]);
    expect(state).toEqual({ list: [{ text: "b" }, { text: "c" }, { text: "e" }], new: [1] });
  });

  test("a mutation log ignores a path outside the document and a list that grows without bound", () => {
    const { state, faults } = replay(
      { kind: 0, v: { list: [1] } },
      { kind: 1, k: ["__proto__", "polluted"], v: true },
      { kind: 1, k: ["constructor", "prototype", "polluted"], v: true },
      { kind: 1, k: ["list", 4_000_000_000], v: 1 },
      { kind: 1, k: ["no", "such", "place"], v: 1 },
      { kind: 2, k: [], v: [1] },
      { kind: 9, k: ["list"], v: 1 },
      { kind: 3, k: Array.from({ length: 1_000 }, () => "deep") },
    );
    expect(faults).toHaveLength(7);
    expect(state).toEqual({ list: [1] });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
