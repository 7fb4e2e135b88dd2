import { describe, expect, test } from "vitest";
import { parseTimeWindows, scoreTimeMatch } from "../../../src/recall/rank/time-window.ts";

const NOW = Date.parse("2023-05-30T21:35:00Z"); // a Tuesday
const at = (day: string) => Date.parse(`${day}T12:00:00Z`);
const match = (question: string, day: string, now: number | null = NOW) =>
  scoreTimeMatch(parseTimeWindows(question, now), at(day));

describe("parseTimeWindows", () => {
  test.each([
    ["What did I do last Friday?", "2023-05-26"],
    ["What did I do on Monday?", "2023-05-29"],
    ["What did I do yesterday?", "2023-05-29"],
    ["Whom did I meet two weeks ago?", "2023-05-16"],
    ["What did I buy three months ago?", "2023-02-28"],
    ["What did I watch in the past two months?", "2023-04-10"],
    ["What happened in May 2023?", "2023-05-12"],
    ["What happened in April?", "2023-04-15"],
    ["What happened on 5 April, 2023?", "2023-04-05"],
    ["What happened on April 5th, 2023?", "2023-04-05"],
    ["What happened on 2023-04-05?", "2023-04-05"],
    ["What happened in 2021?", "2021-08-01"],
  ])("the time of the question %s includes %s", (question, day) => {
    expect(match(question, day)).toBe(1);
    expect(match(question, "2019-01-01")).toBeLessThan(0.05);
  });

  test("parseTimeWindows also matches messages some days later, and earlier ones less", () => {
    const later = match("What happened on 5 April 2023?", "2023-04-08");
    const earlier = match("What happened on 5 April 2023?", "2023-04-02");
    expect(later).toBeGreaterThan(0.3);
    expect(earlier).toBeLessThan(later);
  });

  test("parseTimeWindows reads calendar dates without the current time, but no relative ones", () => {
    expect(match("What happened in June?", "2022-06-10", null)).toBe(1);
    expect(parseTimeWindows("What happened last week?", null)).toEqual([]);
  });

  test("a day that a year does not have is no day of the next month", () => {
    expect(parseTimeWindows("What happened on February 29?", NOW)).toEqual([]);
    expect(parseTimeWindows("Since build 2023-13-45", NOW)).toEqual([]);
    expect(match("What happened on February 29?", "2024-02-29", Date.parse("2024-05-01T00:00:00Z"))).toBe(1);
  });

  test("an absurd number of years still gives times that a store can compare", () => {
    for (const { fromMs } of parseTimeWindows(`What happened ${"9".repeat(20)} years ago?`, NOW))
      expect(Number.isSafeInteger(Math.ceil(fromMs))).toBe(true);
    expect(parseTimeWindows("the last 10000000000 years", NOW)[0]?.fromMs).toBeGreaterThan(-8.64e15);
  });

  test("parseTimeWindows does not read other words as dates", () => {
    for (const question of [
      "May I ask you something?",
      "How many days ago did I meet Emma?",
      "I march on",
      "A second look",
    ]) {
      expect(parseTimeWindows(question, NOW), question).toEqual([]);
    }
  });
});
