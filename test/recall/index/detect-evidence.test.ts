import { expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { detectEvidence } from "../../../src/recall/index/entry-texts.ts";
import { EVIDENCE } from "../../../src/recall/text/evidence.ts";
import { TRAIT } from "../../../src/recall/text/traits.ts";

const call = (name: string, input: Json) => detectEvidence({ type: "tool-call", callId: "1", name, input });

test("calls are marked by their effect: edit, commit or none", () => {
  expect(call("Edit", { file_path: "a.ts", old_string: "a", new_string: "b" })).toBe(
    EVIDENCE.call | EVIDENCE.edit,
  );
  expect(call("Bash", { command: 'git add -A && git commit -m "Fix it"' })).toBe(
    EVIDENCE.call | EVIDENCE.commit,
  );
  expect(call("Bash", { command: "git commit --amend --no-edit" })).toBe(EVIDENCE.call);
  expect(call("Read", { file_path: "a.ts" })).toBe(EVIDENCE.call);
});

test("reasoning has its own mark of evidence, and prose has none", () => {
  expect(detectEvidence({ type: "reasoning", text: "Perhaps." })).toBe(EVIDENCE.reasoning);
  expect(detectEvidence({ type: "text", text: "Done." })).toBe(0);
});

test("the bits of evidence and of traits do not overlap", () => {
  const sum = (bits: Readonly<Record<string, number>>) =>
    Object.values(bits).reduce((all, bit) => all | bit, 0);
  expect(sum(EVIDENCE) & sum(TRAIT)).toBe(0);
});
