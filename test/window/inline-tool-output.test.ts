import { describe, expect, test } from "vitest";
import type { Message } from "../../src/kernel/index.ts";
import {
  clipInlineToolOutput,
  getOwnText,
  hasOwnText,
  isInlineToolOutput,
  parseOutputHeader,
} from "../../src/window/inline-tool-output.ts";

const says = (role: Message["role"], ...texts: readonly string[]): Message => ({
  role,
  parts: texts.map((text) => ({ type: "text", text })),
});
const CALL = says("assistant", "I read it.\n\n<read_file>\n<path>src/a.ts</path>\n</read_file>");
const ENVIRONMENT = "<environment_details>\n# Open Tabs\nsrc/a.ts\n</environment_details>";

describe("tool output in the user's name", () => {
  test.each([
    ["a head and what follows it", ["[read_file for 'src/a.ts'] Result:\nexport const a = 1;", ENVIRONMENT]],
    [
      "a head in a part of its own",
      ["[read_file for 'src/a.ts'] Result:", "export const a = 1;", ENVIRONMENT],
    ],
    ["a command of several lines", ["[execute_command for 'cat <<E\nx\nE'] Result:\nx"]],
    ["a tool without an object", ["[browser_action] Result:\nclicked"]],
    ["an element of its own", ["<tool_result>\n12 files\n</tool_result>"]],
    [
      "a tool that was not carried out",
      ["[ls] Result:\na", "Tool [read_file] was not executed, for one was."],
    ],
  ])("tool output in the user's name is recognized by its shape after a call: %s", (_, texts) => {
    expect(isInlineToolOutput(says("user", ...texts), CALL)).toBe(true);
    expect(isInlineToolOutput(says("user", ...texts), says("assistant", "What do you see?"))).toBe(false);
    expect(isInlineToolOutput(says("user", ...texts), undefined)).toBe(false);
    const native: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", callId: "a", name: "read_file", input: {} }],
    };
    expect(isInlineToolOutput(says("user", ...texts), native)).toBe(true);
  });

  test.each([
    ["plain words", ["Use tabs from now on."]],
    ["plain words beside what the editor shows", ["Use tabs from now on.", ENVIRONMENT]],
    ["a task", ["<task>\nFix it.\n</task>", ENVIRONMENT]],
    ["feedback behind a result", ["[read_file for 'a'] Result:\nx", "<feedback>\nUse tabs.\n</feedback>"]],
    ["an answer to a question", ["[ask_followup_question for 'Tabs?'] Result:\n<answer>\nYes.\n</answer>"]],
    ["a message in the same text", ["[plan_mode_respond] Result:\n<user_message>\nGo on.\n</user_message>"]],
    ["nothing but what the program adds", [ENVIRONMENT]],
    ["brackets that are no head", ["[WIP] Result: it works"]],
  ])("a person's words are not taken for tool output: %s", (_, texts) => {
    const before = texts[0]?.startsWith("[WIP]") ? says("assistant", "Done.") : CALL;
    expect(isInlineToolOutput(says("user", ...texts), before)).toBe(false);
  });

  test("tool output in the user's name gives the tool and the subject of the call", () => {
    expect(parseOutputHeader("[read_file for 'src/a.ts'] Result:\nx")).toEqual({
      tool: "read_file",
      subject: "src/a.ts",
    });
    expect(parseOutputHeader("[use_mcp_tool] Result: x")).toEqual({ tool: "use_mcp_tool" });
    expect(parseOutputHeader("Read [this] Result: x")).toBeUndefined();
    expect(parseOutputHeader("")).toBeUndefined();
  });

  test("tool output in the user's name is clipped, and a person's words next to it stay", () => {
    const words = "<feedback>\nUse tabs, and never touch the vault.\n</feedback>";
    const output = `[read_file for 'a'] Result:\n${"line of a file\n".repeat(500)}`;
    for (const message of [says("user", output, words, ENVIRONMENT), says("user", `${output}${words}`)]) {
      const clipped = JSON.stringify(clipInlineToolOutput(message, 200));
      expect(clipped.length).toBeLessThan(1_000);
      expect(clipped).toContain("never touch the vault");
    }
    const plain = says("user", "x".repeat(5_000));
    expect(clipInlineToolOutput(plain, 200)).toBe(plain);
  });
});

test("an element that a client adds is not a person's text, even with attributes or a longer name", () => {
  for (const tag of ["system-reminder", "ide_selection", "environment-details-v2"]) {
    const added = `<${tag} source="editor">\nsrc/a.ts\n</${tag}>`;
    expect(hasOwnText(says("user", added))).toBe(false);
    expect(isInlineToolOutput(says("user", "[ls] Result:\na", added), CALL)).toBe(true);
    expect(getOwnText(says("user", `${added}\nUse tabs.`))).toBe("Use tabs.");
  }
});
