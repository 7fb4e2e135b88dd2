import { expect, test } from "vitest";
import { readHookCall } from "../../../src/adapters/hooks/hook-call.ts";

test("a huge command, output or prompt is cut to the parts that a search looks at", () => {
  const call = readHookCall("claude-code", {
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_input: {
      command: `first;${"echo a;".repeat(600_000)}last`,
      ...Object.fromEntries(listFields(5_000)),
    },
    tool_response: { stderr: "Error: early", ...Object.fromEntries(listFields(200_000)) },
    prompt: "why? ".repeat(1_000_000),
  });
  const input = call?.tool?.input as Record<string, string>;
  expect(input.command?.length).toBeLessThan(70_000);
  expect(input.command).toMatch(/^first;[\s\S]*last$/);
  expect(Object.keys(input).length).toBeLessThanOrEqual(200);
  expect(call?.tool?.output).toMatch(/^Error: early\n/);
  expect(call?.tool?.output.split("\n").length).toBeLessThanOrEqual(2_000);
  expect(call?.prompt.length).toBeLessThan(70_000);
});

test("a long output keeps its beginning and its end", () => {
  const output = `Error: first\n${"x\n".repeat(400_000)}Exit code 1`;
  const call = readHookCall("claude-code", {
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_response: output,
  });
  expect(call?.tool?.output).toMatch(/^Error: first\n[\s\S]*Exit code 1$/);
  expect(call?.tool?.output.length).toBeLessThan(300_000);
});

function listFields(count: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`k${index}`, `Error: x${index}`]);
}
