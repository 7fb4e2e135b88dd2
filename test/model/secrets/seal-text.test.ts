import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sealText, unsealText } from "../../../src/model/secrets/seal-text.ts";

test("a sealed text is read with its own key only, and not after a change", () => {
  const key = randomBytes(32);
  const sealed = sealText("Größe: 7781", key);
  expect(sealed).not.toContain("7781");
  expect(unsealText(sealed, key)).toBe("Größe: 7781");
  expect(unsealText(sealed, randomBytes(32))).toBeUndefined();
  const changed = Buffer.from(sealed, "base64");
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
  expect(unsealText(changed.toString("base64"), key)).toBeUndefined();
  for (const short of ["", "AAAA"]) expect(unsealText(short, key)).toBeUndefined();
});
