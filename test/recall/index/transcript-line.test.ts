import { describe, expect, test } from "vitest";
import { isTranscript, parseTranscriptLine } from "../../../src/recall/index/session-speakers.ts";

describe("a line of a transcript", () => {
  test.each([
    ["Alice: I moved to Oslo.", "Alice", "I moved to Oslo."],
    ["Mary Ann Smith: Fine.", "Mary Ann Smith", "Fine."],
    ["**Bob:** Sure.", "Bob", "Sure."],
    ["**Bob**: Sure.", "Bob", "Sure."],
    ["小明：我搬家了。", "小明", "我搬家了。"],
    ['Alice said, "I moved to Oslo."', "Alice", "I moved to Oslo."],
    ["Jean-Luc O’Neil replied: “Engage.”", "Jean-Luc O’Neil", "Engage."],
  ])("a line of a transcript is split into speaker and words: %s", (text, speaker, words) => {
    const line = parseTranscriptLine(text);
    expect(line?.speaker).toBe(speaker);
    expect(text.slice(line?.from, line?.to)).toBe(words);
  });

  test.each([
    "I moved to Oslo.",
    "User: hello",
    "Assistant: hello",
    "note: this is lower case",
    "Alice:",
    'Alice said, ""',
    "One Two Three Four: five",
    "12:30 is fine",
  ])("%j is not a line of a transcript", (text) => expect(parseTranscriptLine(text)).toBeUndefined());
});

describe("recognizing transcripts", () => {
  const turns = ["Alice: Hi.", "Bob: Hi, Alice.", "Alice: I moved.", "Bob: Where to?"];
  test("a session is a transcript if its turns begin with recurring names", () =>
    expect(isTranscript(turns)).toBe(true));

  test.each([
    ["too few turns", turns.slice(0, 3)],
    ["one name only", turns.map((text) => text.replace("Bob", "Alice"))],
    ["labels that do not recur", ["Error: a", "Note: b", "Todo: c", "Warning: d", "Fix: e", "Error: f"]],
    ["turns without names", [...turns, "Please fix the test.", "Done.", "And the other one."]],
    ["roles", ["User: a", "Assistant: b", "User: c", "Assistant: d"]],
  ])("a session with %s is not a transcript", (_, texts) => expect(isTranscript(texts)).toBe(false));
});
