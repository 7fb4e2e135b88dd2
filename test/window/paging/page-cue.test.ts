import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { findPageCue } from "../../../src/window/paging/page-cue.ts";
import { computePageTokens } from "../../../src/window/session/window-pager.ts";
import type { Slot } from "../../../src/window/slot.ts";

function slots(...messages: Message[]): readonly Slot[] {
  return messages.map((message, index) => ({ seq: index + 1, at: index, message, tokens: 10 }));
}

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const call = (name: string, input: object = {}): Message => ({
  role: "assistant",
  parts: [{ type: "tool-call", callId: "1", name, input: input as never }],
});
const result = (text: string, isError = false): Message => ({
  role: "tool",
  parts: [
    { type: "tool-result", callId: "1", output: [{ type: "text", text }], ...(isError && { isError }) },
  ],
});

describe("the cue for a page", () => {
  test("a new message of a person is a cue, without the text that the client added", () => {
    const asked = "<system-reminder>\nBe brief.\n</system-reminder>\nWhich port did we choose?";
    expect(findPageCue(slots(user("Begin."), user(asked)))).toEqual({
      index: 1,
      question: "Which port did we choose?",
      kind: "recall",
    });
    const kindOf = (text: string) => findPageCue(slots(user("Begin."), user(text)))?.kind;
    expect(kindOf("Can you suggest a name for the heron?")).toBe("question");
    expect(kindOf("Thanks, I like that.")).toBe("statement");
    expect(kindOf("Remind me of the port.")).toBe("recall");
  });

  test("an edit whose text was not found is a cue, with its file and that text", () => {
    const edit = call("Edit", { file_path: "src/vault.ts", old_string: "const key = 1;", new_string: "" });
    const cue = findPageCue(slots(user("Begin."), edit, result("String to replace not found", true)));
    expect(cue).toEqual({ index: 2, question: "src/vault.ts\nconst key = 1;", kind: "error" });
  });

  test("an edit that was refused only in words is a cue, because some results carry no error flag", () => {
    const edit = call("apply_patch", {
      input:
        "*** Begin Patch\n*** Update File: src/vault.ts\n@@\n-const key = 1;\n+const key = 2;\n*** End Patch",
    });
    const kindOf = (text: string) => findPageCue(slots(user("Begin."), edit, result(text)))?.kind;
    expect(kindOf("apply_patch verification failed: Failed to find expected lines in src/vault.ts")).toBe(
      "error",
    );
    expect(kindOf("Exit code: 1\nOutput:\nno such hunk")).toBe("error");
    expect(kindOf("Exit code: 0\nSuccess. Updated the following files:\nM src/vault.ts")).toBeUndefined();
    expect(
      kindOf("The file src/vault.ts has been updated.\n1\tthrow new Error('not found in map')"),
    ).toBeUndefined();
  });

  test("any other error is not a cue, because nothing that left the window explains it", () => {
    const failed = result("EACCES: cannot open vault.key", true);
    expect(findPageCue(slots(user("Begin."), call("bash"), failed))).toBeUndefined();
  });

  test("a plan is a cue, with the steps in progress", () => {
    const todos = [
      { content: "Read the schema", status: "completed" },
      { content: "Migrate the ledger", status: "in_progress" },
      { content: "Write the tests", status: "pending" },
    ];
    const cue = findPageCue(slots(user("Begin."), call("TodoWrite", { todos }), result("ok")));
    expect(cue).toEqual({ index: 2, question: "Migrate the ledger", kind: "plan" });
  });

  test("a reply, a successful result and a reminder are not cues", () => {
    expect(findPageCue(slots(user("Begin."), call("bash"), result("done")))).toBeUndefined();
    const reply: Message = { role: "assistant", parts: [{ type: "text", text: "Done." }] };
    expect(findPageCue(slots(user("Begin."), reply))).toBeUndefined();
    const reminder = user("<system-reminder>\nThe file changed.\n</system-reminder>");
    expect(findPageCue(slots(user("Begin."), call("bash"), result("done"), reminder))).toBeUndefined();
    expect(findPageCue([])).toBeUndefined();
  });
});

test("a page may take a quarter of a small window and an eighth of a large one", () => {
  expect(computePageTokens(8_000)).toBe(2_000);
  expect(computePageTokens(32_000)).toBe(8_000);
  expect(computePageTokens(200_000)).toBe(25_000);
  expect(computePageTokens(1_000_000)).toBe(125_000);
  expect(computePageTokens(64_000)).toBeGreaterThan(8_000);
  expect(computePageTokens(64_000)).toBeLessThan(16_000);
});
