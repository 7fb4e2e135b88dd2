import { describe, expect, test } from "vitest";
import { decideMime, sniffMime } from "../../src/model/mime.ts";

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]);
const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
const zip = Buffer.from("PK\u0003\u0004rest");
const text = Buffer.from("hello");

describe("detecting the type of data", () => {
  test("the type of data is detected by the first bytes", () => {
    expect(
      [png, jpeg, webp, Buffer.from("GIF89a"), Buffer.from("%PDF-1.7"), text].map((head) => sniffMime(head)),
    ).toEqual(["image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf", undefined]);
  });

  test("the type of data is taken from the label if the bytes do not contradict it", () => {
    expect(decideMime("image/jpg", jpeg)).toBe("image/jpeg");
    expect(decideMime("text/plain; charset=utf-8", text)).toBe("text/plain");
    expect(
      decideMime("application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip),
    ).toContain("wordprocessingml");
    expect(decideMime("image/svg+xml", Buffer.from("<svg/>"))).toBe("image/svg+xml");
    expect(decideMime(undefined, png)).toBe("image/png");
    expect(decideMime(undefined, text)).toBe("application/octet-stream");
  });

  test("data is refused if label and bytes contradict each other", () => {
    for (const [label, head] of [
      ["image/png", jpeg],
      ["image/png", text],
      ["application/pdf", png],
      ["image/x-unknown", jpeg],
      ["not a type", png],
      ["", png],
    ] as const) {
      if (label === "") expect(decideMime(label, head)).toBe("image/png");
      else expect(() => decideMime(label, head)).toThrow(expect.objectContaining({ code: "MIME_MISMATCH" }));
    }
  });
});
