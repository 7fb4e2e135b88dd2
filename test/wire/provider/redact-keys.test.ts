import { describe, expect, test } from "vitest";
import { redactKeys } from "../../../src/wire/provider/provider-error.ts";

describe("redacting keys", () => {
  test("known secrets are redacted", () => {
    expect(redactKeys("the key hunter2hunter2 is wrong", ["hunter2hunter2"])).toBe(
      "the key [redacted] is wrong",
    );
  });

  test.each([
    "Incorrect API key provided: sk-proj-abcdefghijklmnop1234",
    "x-api-key: sk-ant-api03-abcdefghijklmnop1234",
    "https://host.example/v1?key=AbCdEf123456&alt=sse",
    "Authorization: Bearer abcdefgh.ijklmnop",
    "http://user:AbCdEf123456@host.example/v1",
    "AIzaSyAbCdEf123456ghijklmnopqrstuv",
  ])("text in the form of a secret is redacted: %s", (text) => {
    expect(redactKeys(text)).toContain("[redacted]");
    expect(redactKeys(text)).not.toMatch(/1234|ijklmnop/);
  });

  test("all other text is kept, including short secrets, because they may be ordinary words", () => {
    const text =
      "prompt is too long: 214731 tokens > 200000 maximum (see https://docs.example/limits?page=2)";
    expect(redactKeys(text, ["long", ""])).toBe(text);
  });
});
