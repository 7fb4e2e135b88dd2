import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import type { Message } from "../../../src/model/message.ts";
import { findWorkStretch, type WorkMessage } from "../../../src/recall/hits/work-stretch.ts";

const ask = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const answer = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] });

let calls = 0;

function use(name: string, input: Json, output = "ok", isError = false): Message[] {
  const callId = String(calls++);
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name, input }] },
    {
      role: "tool",
      parts: [{ type: "tool-result", callId, isError, output: [{ type: "text", text: output }] }],
    },
  ];
}

const edit = (path: string) => use("Edit", { file_path: path, old_string: "a", new_string: "b" });
const read = (path: string) => use("Read", { file_path: path });
const commit = (subject: string, output = `[main 4f2a91c] ${subject}`, isError = false) =>
  use("Bash", { command: `git commit -m "${subject}"` }, output, isError);

function place(...messages: (Message | Message[])[]): WorkMessage[] {
  return messages.flat().map((message, index) => ({ seq: index + 1, at: index, message }));
}

describe("a stretch of work", () => {
  test("a stretch of work reaches from one request to the next, with its files", () => {
    const messages = place(
      ask("one"),
      answer("1"),
      ask("two"),
      read("/a.ts"),
      read("/b.ts"),
      edit("/b.ts"),
      ask("three"),
    );
    expect(findWorkStretch(messages, 5)).toEqual({
      from: 3,
      to: 9,
      changedFiles: ["/b.ts"],
      readFiles: ["/a.ts"],
    });
  });

  test("a stretch of work ends with a commit, and the next one begins after the output of the commit", () => {
    const messages = place(
      ask("both"),
      edit("/a.ts"),
      commit("First"),
      edit("/b.ts"),
      commit("Second"),
      answer("done"),
    );
    expect(findWorkStretch(messages, 3)).toMatchObject({
      from: 1,
      to: 5,
      changedFiles: ["/a.ts"],
      commit: { seq: 4, subject: "First", hash: "4f2a91c" },
    });
    expect(findWorkStretch(messages, 5)).toMatchObject({ from: 1, to: 5 });
    expect(findWorkStretch(messages, 6)).toMatchObject({
      from: 6,
      to: 9,
      commit: { seq: 8, subject: "Second" },
    });
    expect(findWorkStretch(messages, 10).commit).toBeUndefined();
  });

  test("a stretch of work that changed files belongs to the commit of a later request", () => {
    const messages = place(ask("fix"), edit("/a.ts"), ask("good, commit it"), commit("Fix"));
    expect(findWorkStretch(messages, 2)).toMatchObject({
      from: 1,
      to: 3,
      commit: { seq: 5, subject: "Fix" },
    });
  });

  test("a stretch of work has no commit if it only read files or if the commit failed", () => {
    const only = place(ask("look"), read("/a.ts"), ask("commit"), commit("Other"));
    expect(findWorkStretch(only, 2).commit).toBeUndefined();
    const failed = place(ask("fix"), edit("/a.ts"), commit("Fix", "hook failed", true), answer("failed"));
    expect(findWorkStretch(failed, 2)).toMatchObject({ to: 6 });
    expect(findWorkStretch(failed, 2).commit).toBeUndefined();
    const nothing = place(ask("fix"), edit("/a.ts"), commit("Fix", "nothing to commit, working tree clean"));
    expect(findWorkStretch(nothing, 2).commit).toBeUndefined();
  });

  test("a stretch of work is not split by messages that tools write in the name of the user", () => {
    const messages = place(ask("fix"), ask("<system-reminder>x</system-reminder>"), edit("/a.ts"));
    expect(findWorkStretch(messages, 3)).toMatchObject({ from: 1, to: 4 });
  });
});
