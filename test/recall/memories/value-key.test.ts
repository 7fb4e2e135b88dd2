import { describe, expect, test } from "vitest";
import { normalizeValue } from "../../../src/model/sentences.ts";
import { computeValueKey } from "../../../src/recall/memories/value-key.ts";

describe("the value of a memory", () => {
  test.each([
    ["The port is 7781.", "the  port is 7781"],
    ['- "Answer in German!"', "answer in german"],
    ["Café closes at 5 pm", "CAFE closes at 5 pm."],
    ["Ｆｕｌｌ width", "full width"],
    ["喜欢用制表符。", "喜欢用制表符"],
  ])("%j and %j have the same value", (one, other) => {
    expect(normalizeValue(one)).toBe(normalizeValue(other));
    expect(computeValueKey(one, "s")).toEqual(computeValueKey(other, "s"));
  });

  test.each([
    ["Use C++.", "Use C."],
    ["The offset is -5", "The offset is 5"],
    ["Port 7781", "Port 77.81"],
    ["!!!", "???"],
    ["Never deploy on Friday", "Deploy on Friday"],
  ])("%j and %j have different values", (one, other) => {
    expect(normalizeValue(one)).not.toBe(normalizeValue(other));
  });

  test("the key of a value does not reveal it, and keys with different salts cannot be compared", () => {
    const key = computeValueKey("The locker code is 90210.", "one");
    expect(JSON.stringify(key)).not.toContain("90210");
    expect(computeValueKey("The locker code is 90210.", "two").digest).not.toBe(key.digest);
  });
});
