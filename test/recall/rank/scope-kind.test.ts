import { expect, test } from "vitest";
import { findScopeKind } from "../../../src/recall/rank/scope-kind.ts";
import { scopeOf } from "./scope.ts";

test("the kind of a scope is derived from the contents of its messages", () => {
  const chat = scopeOf([{ text: "I bought a lamp." }, { text: "Good.", author: "assistant" }]);
  expect(findScopeKind(chat.candidates, chat.context)).toBe("assistant");
  const people = scopeOf([{ text: "I bought a lamp.", speaker: "Ann" }]);
  expect(findScopeKind(people.candidates, people.context)).toBe("people");
  const work = scopeOf([{ text: "Fix it." }, { text: "ok 12 tests", author: "tool" }]);
  expect(findScopeKind(work.candidates, work.context)).toBe("work");
  expect(findScopeKind([], chat.context)).toBe("assistant");
});
