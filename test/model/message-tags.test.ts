import { expect, test } from "vitest";
import { ADDED_TAGS, buildTagPattern, getTagNames, WRAPPER_TAGS } from "../../src/model/message-tags.ts";

const matches = (pattern: string, name: string) => new RegExp(`^(?:${pattern})$`, "i").test(name);

test.each([
  ["added", ADDED_TAGS],
  ["wrapper", WRAPPER_TAGS],
])("the tag %s is listed once, has a use, and needs no escape in a pattern", (_, tags) => {
  const names = tags.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z][a-z_-]*\*?$/.test(name))).toEqual([]);
  expect(tags.filter(({ uses }) => uses.length === 0)).toEqual([]);
});

test("a tag name that ends in a star matches all longer names", () => {
  const pattern = buildTagPattern(ADDED_TAGS, "state");
  expect(
    ["system-reminder", "ide_opened_file", "environment-details-v2"].every((name) => matches(pattern, name)),
  ).toBe(true);
  expect(["system", "systems-x", "ide-"].some((name) => matches(pattern, name))).toBe(false);
});

test("tags that a person may also write are removed only from summaries and questions", () => {
  for (const name of ["instructions", "document", "context", "skill"]) {
    expect(matches(buildTagPattern(ADDED_TAGS, "words"), name)).toBe(false);
    expect(matches(buildTagPattern(ADDED_TAGS, "state"), name)).toBe(false);
  }
});

test("tags that determine stored keys are listed by full name, because a new name would change the keys", () => {
  expect(getTagNames(ADDED_TAGS, "identity")).toEqual([
    "system-reminder",
    "environment_details",
    "environment_context",
  ]);
});

test("a tag around a person's words is never removed with its content", () => {
  const wrappers = WRAPPER_TAGS.map(({ name }) => name).filter((name) => !name.endsWith("*"));
  for (const use of ["question", "words", "state", "summary"] as const)
    expect(wrappers.filter((name) => matches(buildTagPattern(ADDED_TAGS, use), name))).toEqual([]);
});
