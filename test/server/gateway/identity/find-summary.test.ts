import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import { findSummaryIndex, hasSummary } from "../../../../src/server/gateway/lookup/client-summaries.ts";

const SUMMARY = "The login was fixed in src/login.ts. Next: run the tests of the session store and commit.";
const ANSWER = `<analysis>\nFirst, what happened.\n</analysis>\n\n<summary>\n${SUMMARY}\n</summary>`;
const user = (text: string): MessageInput => ({ role: "user", text });

describe("a conversation that goes on from a summary", () => {
  test("a summary is found if the client wraps it, strips the tags or leaves out the analysis", () => {
    for (const carried of [
      ANSWER,
      SUMMARY,
      `This session goes on from another one.\n\nSummary:\n${SUMMARY}\n\nGo on.`,
      `<summary>\n${ANSWER}\n</summary>`,
      SUMMARY.replaceAll(" ", "\n").toUpperCase(),
    ])
      expect(hasSummary(ANSWER, [user(carried), user("Go on.")])).toBe(true);
  });

  test("a summary is found after a question, as the reply", () => {
    const messages: MessageInput[] = [
      user("What did we do?"),
      { role: "assistant", text: ANSWER },
      user("Go on."),
    ];
    expect(findSummaryIndex(ANSWER, messages)).toBe(1);
  });

  test("a summary is found if a part of it is missing", () => {
    const long = Array.from({ length: 60 }, (_, index) => `Step ${index} changed file number ${index}.`).join(
      " ",
    );
    expect(hasSummary(long, [user(`Before: ${long.slice(0, -120)}`)])).toBe(true);
    expect(hasSummary(long, [user(long.slice(0, long.length / 3))])).toBe(false);
  });

  test("a summary that was said in passing or is too short is not found", () => {
    const messages: MessageInput[] = [user("a"), user("b"), user("c"), { role: "assistant", text: SUMMARY }];
    expect(hasSummary(SUMMARY, messages)).toBe(false);
    expect(hasSummary("ok", [user("ok")])).toBe(false);
    expect(hasSummary("", [user("")])).toBe(false);
  });

  test("a summary is found whatever stands around it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(hasSummary(ANSWER, [user(`${before}\n\n${SUMMARY}\n\n${after}`)])).toBe(true);
      }),
    );
  });
});
