import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decodeBase64, splitDataUrl } from "../../src/log/blobs.ts";

const invalid = expect.objectContaining({ code: "BASE64_INVALID" });

describe("base64", () => {
  test("base64 of any length is decoded piece by piece", () => {
    for (const size of [1, 2, 3, 1_000, 196_608, 1_000_001]) {
      const bytes = randomBytes(size);
      expect(Buffer.concat([...decodeBase64(bytes.toString("base64"))]).equals(bytes)).toBe(true);
    }
  });

  test("base64 may contain line breaks and the URL alphabet", () => {
    expect(Buffer.concat([...decodeBase64("aGVs\nbG8=\r\n")]).toString()).toBe("hello");
    expect(Buffer.concat([...decodeBase64("-_-_")])).toEqual(Buffer.from("+/+/", "base64"));
  });

  test("base64 that was cut or contains other characters is refused", () => {
    for (const bad of ["aGVsbG8", "aGVs!G8=", "=aGVsbG8", "aGV=bG8=", "data"]) {
      if (bad === "data") expect([...decodeBase64(bad)]).toHaveLength(1);
      else expect(() => [...decodeBase64(bad)]).toThrow(invalid);
    }
  });

  test("data URLs are split, plain base64 is not, and malformed URLs are refused", () => {
    expect(splitDataUrl("data:image/png;base64,AAAA")).toEqual({ mime: "image/png", base64: "AAAA" });
    expect(splitDataUrl("AAAA")).toBeUndefined();
    for (const bad of ["data:image/png", "data:text/plain,hello", "data:;base64"])
      expect(() => splitDataUrl(bad)).toThrow(invalid);
  });
});
