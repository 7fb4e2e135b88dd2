import { describe, expect, test } from "vitest";
import { findPersonText } from "../../../../src/server/gateway/reception/begin-exchange.ts";

const said = (...texts: readonly string[]) =>
  findPersonText({ role: "user", parts: texts.map((text) => ({ type: "text", text })) });

describe("the words of a person", () => {
  test("the person's words are found without the additions of agents", () => {
    expect(said("<system-reminder>Read src/a.ts</system-reminder>", "Fix it.")).toBe("Fix it.");
    expect(said("Fix it.\n<environment_details>\n# Files\nsrc/a.ts\n</environment_details>")).toBe("Fix it.");
    expect(said("<user_instructions>be brief</user_instructions>")).toBeUndefined();
  });

  test("the person's words stay if a client wraps them or if they mention tags", () => {
    expect(said("<task>Fix it.</task>")).toBe("<task>Fix it.</task>");
    expect(said("<user_query>Fix it.</user_query>")).toBe("<user_query>Fix it.</user_query>");
    expect(said("What is <div>a</div>?")).toBe("What is <div>a</div>?");
  });

  test("the person's words are only the command if one text is /context", () => {
    expect(said("Earlier notes.", "/context the port")).toBe("/context the port");
    expect(said("see /context the port")).toBe("see /context the port");
  });

  test("a message with tool results or from the assistant contains no words of a person", () => {
    const result = { type: "tool-result", callId: "a", output: "x" } as const;
    expect(
      findPersonText({ role: "user", parts: [result, { type: "text", text: "Go on." }] }),
    ).toBeUndefined();
    expect(findPersonText({ role: "assistant", text: "Go on." })).toBeUndefined();
  });
});
