import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { FileStretches } from "../../../src/window/policies/longhaul/file-stretches.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";

const PATH = "src/ledger.ts";
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `export const entry${from + index} = amount(${from + index});`);
const numbered = (from: number, count: number) =>
  lines(from, count)
    .map((line, index) => `${String(from + index).padStart(6)}→${line}`)
    .join("\n");

const callOf = (callId: string, name: string, input: object): Message => ({
  role: "assistant",
  parts: [{ type: "tool-call", callId, name, input: input as never }],
});
const resultOf = (callId: string, text: string, isError = false): Message => ({
  role: "tool",
  parts: [{ type: "tool-result", callId, output: [{ type: "text", text }], ...(isError && { isError }) }],
});
const read = (callId: string, text: string, path = PATH): readonly Message[] => [
  callOf(callId, "Read", { file_path: path }),
  resultOf(callId, text),
];
const edit = (callId: string, before: string, after: string): readonly Message[] => [
  callOf(callId, "Edit", { file_path: PATH, old_string: before, new_string: after }),
  resultOf(callId, "done"),
];

function observe(...messages: readonly Message[]): FileStretches {
  const stretches = new FileStretches(estimateMessage);
  for (const [index, message] of messages.entries())
    stretches.observe({ seq: index + 1, at: index, message, tokens: estimateMessage(message) });
  return stretches;
}

const choose = (stretches: FileStretches, maxTokens = 100_000, isGone = (_: number) => true) =>
  stretches.choose({ maxTokens, tokenPrice: 0, isGone });
const textOf = (stretches: FileStretches) =>
  choose(stretches)
    .map(({ text }) => text)
    .join("");

describe("stretches of files", () => {
  test("stretches of files are shown without line numbers, under a heading that names their lines", () => {
    const [only, ...others] = choose(observe(...read("1", numbered(101, 30))));
    expect(others).toEqual([]);
    expect(only?.source.heading).toBe(`Read ${PATH}, lines 101–130`);
    expect(only?.text).toBe(`${lines(101, 30).join("\n")}\n`);
  });

  test("stretches of files show the new text after an edit, and no longer the replaced lines", () => {
    const [before, after] = [
      "export const entry5 = amount(5);",
      "export const entry5 = amount(5, currency.euro);",
    ];
    const text = textOf(observe(...read("1", numbered(1, 20)), ...edit("2", before, after)));
    expect(text).not.toContain(before);
    expect(text).toContain(after);
    expect(text).toContain("entry4 = amount(4);\n[… edited since]\nexport const entry6");
  });

  test("stretches of files drop every line that an edit changed, even in part", () => {
    const text = textOf(observe(...read("1", numbered(1, 20)), ...edit("2", "amount", "sumOf")));
    expect(text).not.toContain("amount");
    const two = "amount(5);\nexport const entry6";
    const over = textOf(
      observe(...read("1", numbered(1, 20)), ...edit("2", two, "amount(7);\nexport const six")),
    );
    expect(over).not.toMatch(/entry5|entry6/);
    expect(over).toMatch(/entry4 = .*\n\[… edited since\]\nexport const entry7/);
  });

  test("stretches of files leave out a file that only a program of the provider has read, and follow the program's edits", () => {
    const meta = { anthropic: { extras: { 0: { caller: { type: "code_execution_20260120" } } } } };
    const byProgram = ([call, result]: readonly Message[]) => [{ ...call, meta }, result] as Message[];
    expect(textOf(observe(...byProgram(read("1", numbered(1, 20)))))).toBe("");
    const after = "export const entry5 = amount(5, currency.euro);";
    const changed = byProgram(edit("2", "export const entry5 = amount(5);", after));
    const text = textOf(observe(...read("1", numbered(1, 20)), ...changed));
    expect(text).toContain("[… edited since]");
  });

  test("stretches of files are unchanged by an edit that failed", () => {
    const failed = [
      callOf("2", "Edit", { file_path: PATH, old_string: "amount(5)", new_string: "x".repeat(60) }),
      resultOf("2", "String to replace not found in file.", true),
    ];
    const text = textOf(observe(...read("1", numbered(1, 20)), ...failed));
    expect(text).toBe(`${lines(1, 20).join("\n")}\n`);
  });

  test("stretches of files show only the newest copy of a file", () => {
    const text = textOf(observe(...read("1", numbered(1, 20)), ...read("2", numbered(1, 20))));
    expect(text.split("entry7 ")).toHaveLength(2);
    const written = callOf("3", "Write", { file_path: PATH, content: lines(50, 9).join("\n") });
    const rewritten = textOf(observe(...read("1", numbered(1, 20)), written, resultOf("3", "done")));
    expect(rewritten).not.toContain("entry7 ");
    expect(rewritten).toContain("entry51 ");
  });

  test("stretches of files show only messages that have left the window, and only reads that succeeded", () => {
    const stretches = observe(...read("1", numbered(1, 20)), ...read("2", numbered(1, 20), "src/other.ts"));
    const shown = choose(stretches, 100_000, (seq) => seq <= 2);
    expect(shown.map(({ source }) => source.seq)).toEqual([2]);
    const failed = observe(callOf("1", "Read", { file_path: PATH }), resultOf("1", numbered(1, 9), true));
    expect(choose(failed)).toEqual([]);
  });

  test("stretches of files stay within their token limit, and are dropped where tokens cost too much", () => {
    const stretches = observe(...read("1", numbered(1, 400)), ...read("2", numbered(1, 400), "src/other.ts"));
    const tokens = choose(stretches, 2_000).reduce(
      (sum, { text }) => sum + estimateMessage({ role: "user", parts: [{ type: "text", text }] }),
      0,
    );
    expect(tokens).toBeGreaterThan(1_000);
    expect(tokens).toBeLessThanOrEqual(2_000);
    expect(stretches.choose({ maxTokens: 2_000, tokenPrice: 1e6, isGone: () => true })).toEqual([]);
  });

  test("the estimated loss of stretches of files grows the fewer of them fit", () => {
    const stretches = observe(...read("1", numbered(1, 400)));
    const lossOf = (maxTokens: number) => stretches.estimateLoss(maxTokens, () => true);
    expect(lossOf(100_000)).toBe(0);
    expect(lossOf(0)).toBeGreaterThan(lossOf(2_000));
    expect(observe().estimateLoss(0, () => true)).toBe(0);
  });

  test("stretches of files that are still in the window cost nothing to lose, unless an extract shows them", () => {
    const stretches = observe(...read("1", numbered(1, 400)));
    expect(stretches.estimateLoss(0, () => false)).toBe(0);
    choose(stretches);
    expect(stretches.estimateLoss(0, () => false)).toBeGreaterThan(0);
  });

  test("stretches of files survive an edit of an unread file, input without a path and other odd input", () => {
    const odd = [
      ...edit("1", "", ""),
      ...edit("2", "\n".repeat(10_000), "x".repeat(50)),
      callOf("3", "Edit", { old_string: "only this text, and no path" }),
      callOf("4", "Read", { file_path: 5 }),
      resultOf("4", numbered(1, 3)),
      resultOf("nobody", numbered(1, 3)),
    ];
    expect(choose(observe(...odd)).map(({ text }) => text)).toEqual([`${"x".repeat(50)}\n`]);
  });

  test("stretches of files list the paths touched last, newest first, unless the window names them anyway", () => {
    const stretches = observe(...read("1", numbered(1, 9)), ...read("2", numbered(1, 9), "src/other.ts"));
    expect(stretches.listPaths(() => false, 100)).toEqual(["src/other.ts", PATH]);
    expect(stretches.listPaths((path) => path === PATH, 100)).toEqual(["src/other.ts"]);
    expect(stretches.listPaths(() => false, 0)).toEqual([]);
  });
});
