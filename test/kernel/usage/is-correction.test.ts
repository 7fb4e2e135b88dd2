import { expect, test } from "vitest";
import { isCorrection } from "../../../src/kernel/usage/control-report.ts";

test.each([
  "No, the other file.",
  "that's not what I asked for",
  "You forgot the tests",
  "I said two spaces",
  "still failing",
  "Don't touch the schema",
  "<system-reminder>read this</system-reminder>\nwrong branch",
  "不对，是另一个文件",
  "还是不行",
])("the message %j rejects earlier work", (text) => {
  expect(isCorrection(text)).toBe(true);
});

test.each([
  "Now add a test for it.",
  "no problem, go on",
  "Nothing else.",
  "Can you stop the server after the tests?",
  "Great, thanks!",
  "<tool>No, wrong</tool>",
  "继续",
  "",
])("the message %j does not reject earlier work", (text) => {
  expect(isCorrection(text)).toBe(false);
});
