import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { computeDigest, computeFingerprint } from "../../../src/model/base/digest.ts";

const TEXT = "naïve 文 😀";

test("a digest is the SHA-256 in hexadecimal, the same for a text and its bytes", () => {
  const whole = createHash("sha256").update(TEXT).digest("hex");
  expect(computeDigest(TEXT)).toBe(whole);
  expect(computeDigest(Buffer.from(TEXT))).toBe(whole);
  expect(computeDigest(TEXT, 12)).toBe(whole.slice(0, 12));
});

test("a fingerprint is the beginning of the SHA-256 in base64url", () => {
  const whole = createHash("sha256").update(TEXT).digest("base64url");
  expect(computeFingerprint(TEXT)).toBe(whole.slice(0, 16));
  expect(computeFingerprint(TEXT, 22)).toBe(whole.slice(0, 22));
});
