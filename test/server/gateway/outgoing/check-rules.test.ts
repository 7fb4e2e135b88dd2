import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMarkers } from "../../../../src/server/gateway/outgoing/cache-markers.ts";
import { findNewViolations, findViolations } from "../../../../src/server/gateway/outgoing/check-rules.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { HAS_RECORDINGS } from "../recorded.ts";
import { countMarkers } from "./count-markers.ts";
import { readRequests } from "./recorded-elements.ts";

const rulesOf = (...args: Parameters<typeof findViolations>) =>
  findViolations(...args).map(({ rule }) => rule);
const text = (words: string): WireObject => ({ type: "text", text: words });
const use = (id: string): WireObject => ({ type: "tool_use", id, name: "read", input: {} });
const result = (id: string): WireObject => ({ type: "tool_result", tool_use_id: id, content: "r" });
const user = (...content: readonly WireObject[]): WireObject => ({ role: "user", content });
const assistant = (...content: readonly WireObject[]): WireObject => ({ role: "assistant", content });
const thinking = (words: string): WireObject => ({ type: "thinking", thinking: words, signature: "s" });

describe("Anthropic's rules", () => {
  const good = [user(text("a")), assistant(text("b"), use("1"), use("2")), user(result("1"), result("2"))];

  test("a plain request and a request with split messages follow Anthropic's rules", () => {
    expect(rulesOf("anthropic", good)).toEqual([]);
    const pieces = [
      user(text("a")),
      assistant(use("1")),
      assistant(use("2")),
      user(result("1")),
      user(result("2")),
    ];
    expect(rulesOf("anthropic", pieces)).toEqual([]);
    const between = [
      user(text("a")),
      assistant(use("1")),
      { role: "system", content: "s" },
      user(result("1")),
    ];
    expect(rulesOf("anthropic", between)).toEqual([]);
  });

  test.each<[string, readonly WireObject[]]>([
    ["call-without-result", [user(text("a")), assistant(use("1"), use("2")), user(result("1"))]],
    ["call-without-result", [user(text("a")), assistant(use("1"))]],
    ["result-without-call", [user(text("a")), assistant(text("b")), user(result("1"))]],
    ["result-twice", [user(text("a")), assistant(use("1")), user(result("1"), result("1"))]],
    ["first-not-user", [assistant(text("b")), user(text("a"))]],
    ["empty-text", [user(text(" \n"))]],
    ["empty-text", [{ role: "user", content: "" }]],
    ["empty-message", [user(text("a")), assistant(), user(text("b"))]],
  ])("a request that breaks Anthropic's rule %s is reported", (rule, elements) => {
    expect(rulesOf("anthropic", elements)).toEqual([rule]);
  });

  test("Anthropic's rules allow four cache markers in total", () => {
    const marked = user(
      ...Array.from({ length: 3 }, () => ({ ...text("a"), cache_control: { type: "ephemeral" } })),
    );
    expect(rulesOf("anthropic", [marked], { leadMarkers: 1 })).toEqual([]);
    expect(rulesOf("anthropic", [marked], { leadMarkers: 2 })).toEqual(["too-many-markers"]);
  });

  test("an edit must not change the thinking of the assistant's latest message", () => {
    const before = [
      user(text("a")),
      assistant(thinking("x"), text("b")),
      user(text("c")),
      assistant(thinking("y"), text("d")),
      user(text("e")),
    ];
    const older = before.with(1, assistant(text("b")));
    expect(findNewViolations("anthropic", before, older)).toEqual([]);
    const latest = before.with(3, assistant(thinking("z"), text("d")));
    expect(findNewViolations("anthropic", before, latest)).toEqual([
      { rule: "thinking-changed", element: 3 },
    ]);
  });

  test("a rule that the client itself breaks is not held against an edit", () => {
    const own = [
      user(text("a")),
      assistant(use("1")),
      user(text("no result")),
      assistant(use("2")),
      user(result("2")),
    ];
    expect(findNewViolations("anthropic", own, own)).toEqual([]);
    expect(findNewViolations("anthropic", own, own.slice(0, 4))).toEqual([
      { rule: "call-without-result", element: 3, id: "2" },
    ]);
  });
});

describe("OpenAI's rules", () => {
  const call = (...ids: readonly string[]) => ({ role: "assistant", tool_calls: ids.map((id) => ({ id })) });
  const tool = (tool_call_id: string) => ({ role: "tool", tool_call_id, content: "r" });
  const says = (role: string) => ({ role, content: "a" });

  test("in OpenAI's chats every call is answered at once, and only a call is answered", () => {
    const good = [says("system"), says("user"), call("1", "2"), tool("2"), tool("1"), says("assistant")];
    expect(rulesOf("openai-chat", good)).toEqual([]);
    expect(rulesOf("openai-chat", [says("user"), call("1"), says("user")])).toEqual(["call-without-result"]);
    expect(rulesOf("openai-chat", [says("user"), tool("1")])).toEqual(["result-without-call"]);
    expect(rulesOf("openai-chat", [call("1"), says("user"), tool("1")])).toEqual([
      "call-without-result",
      "result-without-call",
    ]);
  });

  const item = (type: string, id: string, call_id?: string) => ({ type, id, ...(call_id && { call_id }) });

  test("in OpenAI's responses calls pair with outputs, and reasoning comes before its item", () => {
    const good = [
      says("user"),
      item("reasoning", "rs"),
      item("function_call", "fc", "1"),
      item("function_call_output", "o", "1"),
      item("reasoning", "rs2"),
      says("assistant"),
    ];
    expect(rulesOf("openai-responses", good)).toEqual([]);
    expect(rulesOf("openai-responses", good.toSpliced(3, 1))).toEqual(["call-without-result"]);
    expect(rulesOf("openai-responses", good.toSpliced(1, 2))).toEqual(["result-without-call"]);
    expect(rulesOf("openai-responses", good.slice(0, -1))).toEqual(["reasoning-without-item"]);
    expect(findNewViolations("openai-responses", good, good.toSpliced(1, 1))).toEqual([
      { rule: "item-without-reasoning", element: 1, id: "fc" },
    ]);
  });
});

describe("the rule that roles alternate", () => {
  const says = (role: string, content = "a") => ({ role, content });
  const alternating = [says("user"), says("assistant"), says("user")];

  test.each(["anthropic", "openai-chat", "openai-responses"] as const)(
    "repeated roles over %s break a rule only if an edit caused them",
    (api) => {
      const edited = [says("user"), says("user", "note"), says("assistant"), says("user")];
      expect(findNewViolations(api, alternating, edited)).toEqual([{ rule: "roles-repeat", element: 1 }]);
      expect(findNewViolations(api, edited, [...edited, says("user", "more")])).toEqual([]);
      expect(findNewViolations(api, alternating, alternating)).toEqual([]);
    },
  );

  test("different names, instructions and results may repeat a role", () => {
    const named = (name: string) => ({ ...says("user"), name });
    expect(findNewViolations("openai-chat", alternating, [named("ann"), named("bob")])).toEqual([]);
    expect(
      findNewViolations("openai-chat", alternating, [says("system"), says("system"), says("user")]),
    ).toEqual([]);
  });
});

describe("random requests", () => {
  const ids = ["1", "2", "3"];
  const element = fc.oneof(
    fc.constant(user(text("a"))),
    fc.subarray(ids, { minLength: 1 }).map((some) => assistant(thinking("t"), ...some.map(use))),
    fc.subarray(ids, { minLength: 1 }).map((some) => user(...some.map(result))),
  );

  test("an unedited request breaks no new rule, and whole exchanges can leave", () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 12 }), (elements) => {
        expect(findNewViolations("anthropic", elements, elements)).toEqual([]);
      }),
    );
    const exchange = fc.integer({ min: 0, max: 2 }).map((calls) => {
      const some = ids.slice(0, calls);
      const steps = calls === 0 ? [] : [assistant(...some.map(use)), user(...some.map(result))];
      return [user(text("q")), ...steps, assistant(text("a"))];
    });
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 2, maxLength: 6 }), fc.nat(5), (exchanges, gone) => {
        const left = exchanges.filter((_, index) => index !== gone % (exchanges.length - 1));
        expect(findNewViolations("anthropic", exchanges.flat(), left.flat())).toEqual([]);
      }),
    );
  });

  test.skipIf(!HAS_RECORDINGS)("every request of a real client keeps every rule", () => {
    const requests = readRequests();
    expect(requests.length).toBeGreaterThan(20);
    for (const { api, elements, body, file } of requests) {
      const leadMarkers = countMarkers(body) - findMarkers(elements).length;
      expect({ file, found: findViolations(api, elements, { leadMarkers }) }).toEqual({ file, found: [] });
    }
  });
});
