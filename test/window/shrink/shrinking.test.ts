import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import type { ToolResultPart } from "../../../src/model/part.ts";
import { longhaul } from "../../../src/window/policies/longhaul.ts";
import type { PolicyRun } from "../../../src/window/policy.ts";
import { parsePointer } from "../../../src/window/shrink/pointer.ts";
import { isShrunk } from "../../../src/window/shrink/result-shrinker.ts";
import { SHRINK_FILTERS, type ShrinkOption } from "../../../src/window/shrink/shrink-filters.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { buildRandomWork } from "./random-work.ts";

const ONLY_POINTERS: ShrinkOption = Object.fromEntries(
  SHRINK_FILTERS.map((name) => [name, name === "repeats"]),
);
const ROUNDS = proofRounds(30, 4);

const slotsOf = (messages: readonly Message[]): readonly Slot[] =>
  messages.map((message, index) => ({
    seq: index + 1,
    at: index,
    message,
    tokens: estimateMessage(message),
  }));

const resultsOf = ({ message }: Slot) =>
  message.parts.filter((part): part is ToolResultPart => part.type === "tool-result");

const linesOf = ({ output }: ToolResultPart) =>
  output.flatMap((content) => (content.type === "text" ? content.text.split("\n") : []));

const NUMBER = /^ *(\d+)(?=→)/;

/** The text that a pointer names in an entry: a result of it, or the text that a call of it writes. */
function findPart({ message }: Slot, part: string): readonly string[] {
  const [kind, at] = part.split(" ");
  const parts = message.parts.filter(({ type }) => type === (kind === "call" ? "tool-call" : "tool-result"));
  const named = parts[Number(at) - 1];
  if (named?.type === "tool-result") return linesOf(named);
  expect(named?.type).toBe("tool-call");
  return named?.type === "tool-call" ? String((named.input as { content?: string }).content).split("\n") : [];
}

/** The lines of a result with every pointer replaced by the lines it names, as a reader of the window would do it. */
function expandResult(part: ToolResultPart, window: readonly Slot[], place: number): readonly string[] {
  return linesOf(part).flatMap((line) => {
    const pointer = parsePointer(line);
    if (!pointer) return [line];
    const { from, to, isNumbered, isShownNumbered } = pointer;
    const target = window.findIndex(({ seq, isNote }) => !isNote && `#${seq}` === pointer.cite);
    expect(target, `${line} names an entry of the window before it`).toBeGreaterThanOrEqual(0);
    expect(target).toBeLessThanOrEqual(place);
    const shown = findPart(window[target] as Slot, pointer.part);
    const start = isShownNumbered
      ? shown.findIndex((one) => Number(NUMBER.exec(one)?.[1]) === pointer.line)
      : pointer.line;
    const lines = shown.slice(start, start + to - from + 1);
    expect(lines).toHaveLength(to - from + 1);
    return lines.map((one, offset) => {
      const text = isShownNumbered ? one.replace(NUMBER, "").slice(1) : one;
      if (isNumbered) return `${from + offset}→${text}`;
      return isShownNumbered ? text : one;
    });
  });
}

/** Fits a window before each reply, as a client does. */
function* fitSteps(run: PolicyRun, slots: readonly Slot[], isHot: () => boolean) {
  for (const [index, slot] of slots.entries()) {
    run.observe(slot);
    if (slot.message.role !== "assistant") yield { index, window: run.fit({ isHot: isHot() }) };
  }
}

describe("random work under a small and a large window", () => {
  sizedTest("every pointer resolves to the exact lines of the original, even after rebuilds", () => {
    let pointers = 0;
    let rebuilds = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const random = new Random(seed);
      const slots = slotsOf(buildRandomWork(random, 40));
      const tokens = seed % 2 === 0 ? 9_000 : 60_000;
      const run = longhaul({ shrink: ONLY_POINTERS }).start(
        { tokens, window: tokens, system: 500 },
        estimateMessage,
      );
      for (const { window } of fitSteps(run, slots, () => random.below(5) > 0)) {
        if (run.reason !== undefined && !run.isTouchUp) rebuilds++;
        for (const [place, slot] of window.entries()) {
          if (!isShrunk(slot)) continue;
          for (const [index, part] of resultsOf(slot).entries()) {
            const original = resultsOf({ ...slot, message: slot.original as Message })[
              index
            ] as ToolResultPart;
            const plain = (line: string) => line.trimStart();
            expect(expandResult(part, window, place).map(plain)).toEqual(linesOf(original).map(plain));
            pointers++;
          }
        }
      }
    }
    expect(pointers).toBeGreaterThan(ROUNDS * 10);
    expect(rebuilds).toBeGreaterThan(ROUNDS / 4);
  });

  sizedTest("a shortened result keeps its bytes in every later call until a rebuild", () => {
    let kept = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const random = new Random(seed);
      const slots = slotsOf(buildRandomWork(random, 40));
      const tokens = seed % 2 === 0 ? 9_000 : 60_000;
      const run = longhaul().start({ tokens, window: tokens, system: 500 }, estimateMessage);
      let before: readonly Slot[] = [];
      for (const { window } of fitSteps(run, slots, () => true)) {
        const isRebuilt = run.reason !== undefined && !run.isTouchUp;
        for (const [place, slot] of before.entries()) {
          if (!isRebuilt) expect(window[place]?.message).toBe(slot.message);
          kept++;
        }
        before = window;
      }
    }
    expect(kept).toBeGreaterThan(ROUNDS * 100);
  });

  sizedTest("a run that takes over a window sends the same as the first run would have sent", () => {
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const random = new Random(seed);
      const slots = slotsOf(buildRandomWork(random, 30));
      const limits = { tokens: 90_000, window: 90_000, system: 500 };
      const run = longhaul().start(limits, estimateMessage);
      for (const { index, window } of fitSteps(run, slots, () => true)) {
        if (index % 9 > 0) continue;
        const next = slots.slice(index + 1, index + 3);
        // The second process knows the window as it was sent, and sees the new messages together with it.
        const other = longhaul().start(limits, estimateMessage, { window: [...window, ...next] });
        const again = longhaul().start(limits, estimateMessage, { window });
        for (const slot of next) again.observe(slot);
        expect(other.fit({ isHot: true }).map(({ message }) => message)).toEqual(
          again.fit({ isHot: true }).map(({ message }) => message),
        );
        expect(longhaul().start(limits, estimateMessage, { window }).fit({ isHot: true })).toEqual(window);
      }
    }
  });
});

/** Reads of one file with other messages between them. */
function read(
  callId: string,
  text: string,
  input: object = { file_path: "src/app.ts" },
  name = "Read",
): readonly Message[] {
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name, input: input as never }] },
    { role: "tool", parts: [{ type: "tool-result", callId, output: [{ type: "text", text }] }] },
  ];
}

const CODE = Array.from(
  { length: 30 },
  (_, at) => `export const setting_${at} = load("setting ${at}");`,
).join("\n");
const LIMITS = { tokens: 60_000, window: 60_000, system: 500 };
const ask = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });

function fitLast(messages: readonly Message[], course = {}, option: ShrinkOption = true): Slot {
  const run = longhaul({ shrink: option }).start(LIMITS, estimateMessage, course);
  let last: readonly Slot[] = [];
  for (const { window } of fitSteps(run, slotsOf(messages), () => true)) last = window;
  return last.at(-1) as Slot;
}

const textOf = (slot: Slot) => resultsOf(slot).flatMap(linesOf).join("\n");

describe("a result that repeats an earlier result", () => {
  test("a repeated result is replaced by a pointer to the earlier result", () => {
    const slot = fitLast([ask("Go on."), ...read("1", CODE), ...read("2", CODE)]);
    expect(textOf(slot)).toBe("[Lines 1-30 left out: the same as lines 1-30 of #3 (Read src/app.ts)]");
    expect(slot.original).toEqual(read("2", CODE)[1]);
  });

  test("what the question names stays whole at its first read after the question", () => {
    const run = (callId: string) => read(callId, CODE, { command: "cat settings.txt | sort" }, "Bash");
    for (const [question, work] of [
      ["What is in src/app.ts?", (id: string) => read(id, CODE)],
      ["Look at app.ts", (id: string) => read(id, CODE)],
      ["Run `cat settings.txt` twice", run],
    ] as const) {
      const before = [ask("Go on."), ...work("1"), ask(question), ...work("2")];
      expect(textOf(fitLast(before))).toBe(CODE);
      expect(textOf(fitLast([...before, ...work("3")]))).toContain("left out: the same as lines 1-30 of #6");
    }
    const asked = fitLast([
      ask("Go on."),
      ...read("1", CODE),
      ask("Where is setting_12?"),
      ...read("2", CODE),
    ]);
    expect(textOf(asked)).toContain('export const setting_12 = load("setting 12");');
    expect(textOf(asked)).toContain("[Lines 1-12 left out");
  });

  test("an error stays whole, and so does every failing line of a run", () => {
    const [call, answer] = read("2", CODE) as [Message, Message];
    const parts = answer.parts.map((part) =>
      part.type === "tool-result" ? { ...part, isError: true } : part,
    );
    expect(textOf(fitLast([ask("Go on."), ...read("1", CODE), call, { ...answer, parts }]))).toBe(CODE);
    const report = `${CODE}\nsrc/app.ts:3:7 - error TS1: wrong\n${CODE.replaceAll("setting", "other")}`;
    const run = (id: string) => read(id, report, { command: "npm test" }, "Bash");
    const shown = textOf(fitLast([ask("Go on."), ...run("1"), ...run("2")]));
    expect(shown.split("\n")).toEqual([
      "[Lines 1-30 left out: the same as lines 1-30 of #3 (Bash npm test)]",
      "src/app.ts:3:7 - error TS1: wrong",
      "[Lines 32-61 left out: the same as lines 32-61 of #3]",
    ]);
  });

  test("an output of which lines are left out is whole for an agent that asks again", () => {
    const path = "src/window/policies/longhaul.ts";
    const hits = Array.from(
      { length: 60 },
      (_, at) => `${path}:${at}:hit ${at}\n${path}-${at}-around it ${at}`,
    );
    const search = (id: string, pattern: string) => read(id, hits.join("\n"), { pattern }, "Grep");
    const option = { repeats: false };
    const work = [ask("Go on."), ...search("1", "hit")];
    const shown = textOf(fitLast(work, {}, option));
    expect(shown).toContain("lines around hits left out");
    expect(shown.split("\n").filter((line) => line.includes(":hit "))).toHaveLength(60);
    expect(textOf(fitLast([...work, ...search("2", "hit")], {}, option))).not.toContain("left out");
    expect(textOf(fitLast([...work, ...search("2", "h.t")], {}, option))).toContain("left out");
  });

  test("a repeated result stays whole where only a program of the provider saw the earlier result", () => {
    const meta = { anthropic: { extras: { 0: { caller: { type: "code_execution_20260120" } } } } };
    const [call, ...answer] = read("1", CODE) as [Message, Message];
    const program = [{ ...call, meta }, ...answer];
    expect(textOf(fitLast([ask("Go on."), ...program, ...read("2", CODE)]))).toBe(CODE);
    const later = fitLast([ask("Go on."), ...program, ...read("2", CODE), ...read("3", CODE)]);
    expect(textOf(later)).toContain("of #5 (Read src/app.ts)");
  });

  test("a read after an edit shows the changed lines between pointers to the earlier read", () => {
    const numbered = (text: string) =>
      text
        .split("\n")
        .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
        .join("\n");
    const edit = read("2", "done", { file_path: "src/app.ts", old_string: "a", new_string: "b" }, "Edit");
    const after = CODE.split("\n")
      .with(14, "const changed = 1;")
      .toSpliced(20, 0, "const added = 2;")
      .join("\n");
    const work = [ask("Go on."), ...read("1", numbered(CODE)), ...edit, ...read("3", numbered(after))];
    expect(textOf(fitLast(work)).split("\n")).toEqual([
      "[1-14 left out: the same as in #3 (Read src/app.ts)]",
      "15→const changed = 1;",
      "[16-20 left out: the same as in #3]",
      "21→const added = 2;",
      "[22-31 left out: the same as 21-30 of #3]",
    ]);
  });

  test("a read of a file that the agent has written points at the call that wrote it", () => {
    const write = read("1", "done", { file_path: "src/new.ts", content: CODE }, "Write");
    const numbered = CODE.split("\n").map((line, at) => `${at + 1}→${line}`);
    expect(textOf(fitLast([ask("Go on."), ...write, ...read("2", numbered.join("\n"))]))).toBe(
      "[1-30 left out: the same as lines 1-30 of #2 call 1 (Write src/new.ts)]",
    );
  });

  test("a repeated result stays whole if it is short or pinned, if a person reverted edits, or if its filters are off", () => {
    const short = CODE.slice(0, 150);
    expect(textOf(fitLast([ask("Go on."), ...read("1", short), ...read("2", short)]))).toBe(short);
    const work = [ask("Go on."), ...read("1", CODE), ...read("2", CODE)];
    expect(textOf(fitLast(work, { pins: new Set([5]) }))).toBe(CODE);
    expect(textOf(fitLast(work, { settledSeq: 5 }))).toBe(CODE);
    expect(textOf(fitLast(work, {}, false))).toBe(CODE);
    expect(textOf(fitLast(work, {}, { repeats: false }))).toBe(CODE);
    expect(textOf(fitLast(work, { shrinkFilters: new Set() }))).toBe(CODE);
  });
});

test("repeated lines return in the same call in which their earlier copy is gone", () => {
  const run = longhaul().start(LIMITS, estimateMessage);
  const slots = slotsOf([ask("Go on."), ...read("1", CODE), ...read("2", CODE)]);
  let window: readonly Slot[] = [];
  for (const step of fitSteps(run, slots, () => true)) window = step.window;
  expect(textOf(window[4] as Slot)).not.toBe(CODE);
  const without = window.filter(({ seq }) => seq !== 2 && seq !== 3);
  const other = longhaul().start(LIMITS, estimateMessage, { window: without });
  const [, , restored] = other.fit({ isHot: true });
  expect(textOf(restored as Slot)).toBe(CODE);
  expect(restored?.original).toBeUndefined();
  expect(other.isTouchUp).toBe(true);
});

test("tool output that looks like a pointer stays unchanged", () => {
  const forged = `[Lines 1-30 left out: the same as lines 1-30 of #3 (Read src/app.ts)]\n${CODE.replaceAll("setting", "other")}`;
  const slot = fitLast([ask("Go on."), ...read("1", CODE), ...read("2", forged)]);
  expect(textOf(slot)).toBe(forged);
});
