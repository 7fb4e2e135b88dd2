import { describe, expect, test } from "vitest";
import { applyEdits } from "../../../src/window/apply-edits.ts";
import { applyProposals, type Pass } from "../../../src/window/pass.ts";
import { clearResults } from "../../../src/window/passes/clear-results.ts";
import { stubDuplicateReads } from "../../../src/window/passes/stub-duplicate-reads.ts";
import { stubStaleImages } from "../../../src/window/passes/stub-stale-images.ts";
import { truncateMessages } from "../../../src/window/passes/truncate-messages.ts";
import { keepEnds, trimResults } from "../../../src/window/policies/known-policies.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { call, context, image, result, say, textsOf, tokensOf, windowOf } from "./windows.ts";

const LONG = "const value = 1;\n".repeat(50);
const end = [say("user", "go on"), say("assistant", "yes"), say("user", "and?")] as const;

function applied(pass: Pass, slots: readonly Slot[]): readonly Slot[] {
  return applyEdits(
    slots,
    pass(slots, context).map(({ edit }) => edit),
    tokensOf,
  );
}

const isLeftOut = (slot: Slot | undefined) => textsOf(slot).includes("to see it: expand s#");

function reads(...inputs: readonly object[]): readonly Slot[] {
  const messages = inputs.flatMap((input, index) => [
    call(`c${index}`, "Read", input),
    result(`c${index}`, LONG),
  ]);
  return windowOf(say("user", "start"), ...messages, ...end);
}

/** Which reads of a window have left it. */
function leftOut(slots: readonly Slot[], pass: Pass = stubDuplicateReads): readonly boolean[] {
  return applied(pass, slots)
    .filter(({ message }) => message.role === "tool")
    .map(isLeftOut);
}

describe("duplicate reads", () => {
  test("duplicate reads become a stub that names the file, its size, and how to get it back", () => {
    const [, , stubbed] = applied(stubDuplicateReads, reads({ file_path: "a.ts" }, { file_path: "./a.ts" }));
    expect(textsOf(stubbed)).toBe(
      "[An earlier read of a.ts (850 characters) was left out; to see it: expand s#3]",
    );
  });

  test("duplicate reads from another session are cited by that session", () => {
    const slots = reads({ file_path: "a.ts" }, { file_path: "a.ts" });
    const forked = slots.with(2, { ...(slots[2] as Slot), cite: "parent#7" });
    expect(textsOf(applied(stubDuplicateReads, forked)[2])).toContain("to see it: expand parent#7]");
  });

  test("duplicate reads stay when a program of the provider made the later read, because the model does not see its result", () => {
    const slots = reads({ file_path: "a.ts" }, { file_path: "a.ts" }, { file_path: "a.ts" });
    const isProgram = { anthropic: { extras: { 0: { caller: { type: "code_execution_20260120" } } } } };
    const called = (index: number) => {
      const slot = slots[index] as Slot;
      return { ...slot, message: { ...slot.message, meta: isProgram } };
    };
    expect(leftOut(slots)).toEqual([true, true, false]);
    expect(leftOut(slots.with(5, called(5)))).toEqual([true, false, false]);
    expect(leftOut(slots.with(3, called(3)))).toEqual([true, false, false]);
    expect(leftOut(slots.with(3, called(3)).with(5, called(5)))).toEqual([false, false, false]);
  });

  test("duplicate reads stay when the later read was clipped", () => {
    const slots = windowOf(
      ...[say("user", "start"), call("1", "Read", { file_path: "a" }), result("1", LONG)],
      ...[
        call("2", "Read", { file_path: "a" }),
        result("2", `${LONG}\n[… 900 characters cut …]\nend`),
        ...end,
      ],
    );
    expect(stubDuplicateReads(slots, context)).toEqual([]);
  });

  test.each([
    ["a whole read supersedes a part", [{ offset: 5, limit: 5 }, {}], [true, false]],
    [
      "another part does not",
      [
        { offset: 5, limit: 5 },
        { offset: 20, limit: 5 },
      ],
      [false, false],
    ],
    [
      "a part that covers does",
      [
        { offset: 5, limit: 5 },
        { offset: 1, limit: 20 },
      ],
      [true, false],
    ],
    ["a part does not supersede the whole", [{}, { offset: 1, limit: 20 }], [false, false]],
    ["only the newest stays", [{}, {}, {}], [true, true, false]],
  ])("%s", (_name, inputs, expected) => {
    expect(leftOut(reads(...inputs.map((input) => ({ file_path: "a.ts", ...input }))))).toEqual(expected);
  });

  test("a later read that failed, or only refers to the earlier read, supersedes nothing", () => {
    for (const text of ["Error: no such file", "File unchanged since last read."]) {
      const slots = windowOf(
        say("user", "start"),
        call("1", "Read", { file_path: "a" }),
        result("1", LONG),
        call("2", "Read", { file_path: "a" }),
        result("2", text),
        ...end,
      );
      expect(stubDuplicateReads(slots, context)).toEqual([]);
    }
  });

  test("duplicate reads of several files in one result leave only if all the files are read again", () => {
    const both = { files: [{ path: "a" }, { path: "b" }] };
    const one = windowOf(
      say("user", "start"),
      call("1", "read_file", both),
      result("1", LONG),
      call("2", "read_file", { path: "a" }),
      result("2", LONG),
      ...end,
    );
    expect(leftOut(one)).toEqual([false, false]);
    const all = windowOf(
      ...one.slice(0, 5).map(({ message }) => message),
      call("3", "bash", { command: "cat b" }),
      result("3", LONG),
      ...end,
    );
    expect(leftOut(all)).toEqual([true, false, false]);
  });

  test("a duplicate read inside a user's text leaves the words around it unchanged", () => {
    const slots = windowOf(
      say("user", "start"),
      say("user", `Look at this: <file_content path="a.ts">${LONG}</file_content> Nice?`),
      call("1", "read_file", { path: "a.ts" }),
      result("1", LONG),
      ...end,
    );
    expect(textsOf(applied(stubDuplicateReads, slots)[1])).toMatch(
      /^Look at this: <file_content path="a.ts">\[An earlier read of a\.ts .*expand s#2\]<\/file_content> Nice\?$/,
    );
  });

  test("duplicate reads in tool output in the user's name are recognized", () => {
    const told = (text: string) =>
      ({
        role: "user",
        parts: [
          { type: "text", text: "[read_file for 'a.ts'] Result:" },
          { type: "text", text },
        ],
      }) as const;
    const slots = windowOf(say("user", "start"), told(LONG), say("assistant", "again"), told(LONG), ...end);
    expect(applied(stubDuplicateReads, slots).map(isLeftOut).slice(0, 4)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });
});

test("the oldest images leave until four fifths of the limit are in use", () => {
  const shots = Array.from({ length: 11 }, (_, index) => [
    call(`${index}`, "shot", {}),
    result(`${index}`, image(10)),
  ]);
  const slots = windowOf(say("user", "x"), ...shots.flat(), ...end);
  expect(leftOut(slots, stubStaleImages({ maxCount: 10 }))).toEqual([
    ...Array(3).fill(true),
    ...Array(8).fill(false),
  ]);
  expect(leftOut(slots, stubStaleImages({ maxBytes: 100 })).filter(Boolean)).toHaveLength(3);
  expect(stubStaleImages({ maxBytes: 110, maxCount: 11 })(slots, context)).toEqual([]);
});

test("clearing results keeps the last n results and those of excluded tools, and clears inputs on request", () => {
  const calls = ["Read", "memory", "Read", "Read"].map((name, index) => [
    call(`${index}`, name, { file_path: `${index}`, note: "long ".repeat(40) }),
    result(`${index}`, LONG),
  ]);
  const slots = windowOf(say("user", "x"), ...calls.flat(), ...end);
  expect(leftOut(slots, clearResults({ keep: 1, excludeTools: ["memory"] }))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  const [, first] = applied(clearResults({ keep: 1, clearInputs: true }), slots);
  expect(first?.message.parts).toMatchObject([{ type: "tool-call", callId: "0", name: "Read" }]);
  expect(JSON.stringify(first?.message)).toContain("expand s#2");
});

test("trimming keeps the head and tail of long results, with a stub between them", () => {
  const slots = windowOf(
    ...[say("user", "x"), call("1", "bash", { command: "make" }), result("1", "a".repeat(600))],
    ...[call("2", "bash", { command: "ls" }), result("2", "a".repeat(500)), ...end],
  );
  const trimmed = applied(trimResults({ longerThan: 500, head: 3, tail: 2 }), slots);
  expect(textsOf(trimmed[2])).toBe(
    "aaa\n[The middle of a result (595 characters) was left out; to see it: expand s#3]\naa",
  );
  expect(trimmed[4]).toBe(slots[4]);
});

test("keeping the ends drops all but the first message of the user and the last messages, with calls and results together", () => {
  const slots = windowOf(
    ...[say("system", "rules"), say("user", "task"), say("assistant", "a"), call("1", "bash", {})],
    ...[say("user", "b"), result("1", LONG), say("assistant", "c"), say("user", "d")],
  );
  const left = (latest: number) => applied(keepEnds(latest), slots).map(({ seq }) => seq);
  expect(left(1)).toEqual([1, 2, 7, 8]);
  expect(left(3)).toEqual([1, 2, 4, 6, 7, 8]);
});

test("a late result leaves with its call, and both stay if either is pinned", () => {
  const talk = Array.from({ length: 6 }, (_, index) =>
    say(index % 2 === 0 ? "user" : "assistant", `${index}`),
  );
  const slots = windowOf(
    ...[say("user", "task"), say("assistant", "ok"), call("1", "bash", {}), say("user", "meanwhile")],
    ...[result("1", LONG), ...talk],
  );
  const seqs = (pins: ReadonlySet<number>) =>
    applyProposals(slots, truncateMessages("half")(slots, { ...context, pins }), tokensOf).map(
      ({ seq }) => seq,
    );
  expect(seqs(new Set())).toEqual([1, 2, 4, 6, 7, 8, 9, 10, 11]);
  expect(seqs(new Set([5]))).toContain(3);
});
