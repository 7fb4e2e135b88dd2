import { describe, expect, test } from "vitest";
import { buildCandidatePassage } from "../../../src/memory/careful/candidate-passage.ts";

const text = `${"a".repeat(900)}NEEDLE${"b".repeat(900)}`;

describe("a candidate's passage", () => {
  test("names the author and keeps the chunk with the text around it", () => {
    const passage = buildCandidatePassage({ author: "user", text, from: 900, to: 906, before: undefined });
    expect(passage).toMatch(/^user: a{297}NEEDLEb{297}$/);
  });

  test("takes more from one side if the other has less", () => {
    const passage = buildCandidatePassage({ author: "user", text, from: 0, to: 6, before: undefined });
    expect(passage).toBe(`user: ${text.slice(0, 600)}`);
  });

  test("ends with the end of the turn before", () => {
    const before = { author: "assistant", text: `${"x".repeat(400)} which band?` };
    const passage = buildCandidatePassage({ author: "user", text: "The Cure.", from: 0, to: 9, before });
    expect(passage).toMatch(/^user: The Cure\. \| assistant: x{238} which band\?$/);
  });
});
