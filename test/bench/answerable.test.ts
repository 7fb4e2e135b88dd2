import { expect, test } from "vitest";
import { hasAnswer, isStated, listUnits, packTexts } from "../../bench/suites/recall/answerable.ts";

const said = (text: string, atMs: number | null = null) => ({ text, atMs });

test("numbers, dates and names in an answer are normalized before comparison", () => {
  expect(hasAnswer("12,000 people", [said("It reached 12000 people in all.")])).toBe(true);
  expect(hasAnswer("twelve", [said("She has 12 cats.")])).toBe(true);
  expect(hasAnswer("7 May 2023", [said("We met on May 7th, 2023.")])).toBe(true);
  expect(hasAnswer("7 May 2023", [said("The date is 2023-05-07.")])).toBe(true);
  expect(hasAnswer("8 May 2023", [said("We met on May 7th, 2023.")])).toBe(false);
  expect(hasAnswer("Denver", [said("Emily moved to Boston.")])).toBe(false);
});

test("the date of a text counts as its content, and an answer without content is never found", () => {
  expect(hasAnswer("7 May 2023", [said("We met today.", Date.UTC(2023, 4, 7))])).toBe(true);
  expect(listUnits("no, it is not")).not.toContain("it");
  expect(hasAnswer("the", [said("the")])).toBe(false);
});

test("texts are packed up to the limit of tokens, and the last one is cut", () => {
  const long = said("word ".repeat(4_000));
  const packed = packTexts([said("short"), long, said("never")]);
  expect(packed).toHaveLength(2);
  expect(packed[1]?.text.length).toBeLessThan(long.text.length);
});

test("only answers that the sources contain are checked", () => {
  const items = [
    { session: 0, role: "user" as const, speaker: null, atMs: null, text: "I ran 5 km and 7 km." },
  ];
  expect(isStated("7 km", items, [0])).toBe(true);
  expect(isStated("12 km", items, [0])).toBe(false);
  expect(isStated(null, items, [0])).toBe(false);
});
