import fc from "fast-check";
import { expect, test } from "vitest";
import { findMatchedSentence } from "../../../src/recall/hits/matched-sentence.ts";

function match(question: string, text: string): { sentence: string; words: string[] } | undefined {
  const found = findMatchedSentence(question, text);
  return (
    found && {
      sentence: text.slice(found.from, found.to),
      words: found.words.map(({ from, to }) => text.slice(from, to)),
    }
  );
}

test("the sentence with most words of the question is found, in any form of the words", () => {
  const text = "We met at noon. The staging servers listened on port 7781. The port was free.";
  expect(match("which port does the staging server listen on?", text)).toEqual({
    sentence: "The staging servers listened on port 7781.",
    words: ["staging", "servers", "listened", "port"],
  });
});

test("lines count as sentences, as in code and logs", () => {
  const text = "npm test\n  FAIL login.test.ts: cookieDomain is missing\n  12 passed";
  expect(match("cookie domain", text)).toEqual({
    sentence: "FAIL login.test.ts: cookieDomain is missing",
    words: ["cookieDomain"],
  });
});

test("a rare word of the question counts more than a frequent one", () => {
  const text = "The server and the server port. Quicksilver is the key.";
  const weights: Record<string, number> = { server: 0.1, port: 0.1 };
  const found = findMatchedSentence("server port quicksilver", text, (term) => weights[term] ?? 1);
  expect(text.slice(found?.from, found?.to)).toBe("Quicksilver is the key.");
});

test("Chinese sentences are found without spaces", () => {
  expect(match("端口是多少", "我们先吃饭。测试环境的端口是7781。明天见。")?.sentence).toBe(
    "测试环境的端口是7781。",
  );
});

test("a text without a word of the question has no matched sentence", () => {
  expect(match("walrus", "Nothing of that here.")).toBeUndefined();
});

test("the matched ranges lie within the text and in order, for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.lorem(), (noise, words) => {
      const text = `${noise} ${words}`;
      const found = findMatchedSentence(words, text);
      let last = found?.from ?? 0;
      for (const { from, to } of found?.words ?? []) {
        expect(from).toBeGreaterThanOrEqual(last);
        expect(to).toBeGreaterThan(from);
        expect(to).toBeLessThanOrEqual(found?.to ?? 0);
        last = to;
      }
    }),
  );
});
