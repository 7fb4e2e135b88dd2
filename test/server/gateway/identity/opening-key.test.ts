import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import { buildCanonicalKey } from "../../../../src/server/gateway/identity/canonical-key.ts";
import {
  buildOpeningKey,
  replaceOpening,
} from "../../../../src/server/gateway/identity/conversation-keys.ts";

const REMINDER = "<system-reminder>\nToday is Sunday.\n</system-reminder>";

function keyOf(input: MessageInput): string {
  const first = { key: buildCanonicalKey(input), input: () => input };
  return buildOpeningKey(first, Buffer.from(JSON.stringify(input)));
}

const says = (...texts: string[]): MessageInput => ({
  role: "user",
  parts: texts.map((text) => ({ type: "text", text })),
});

describe("the opening key of a conversation", () => {
  test("a conversation's opening key ignores reminders next to the first words", () => {
    const plain = keyOf(says("Read the notes."));
    expect(keyOf(says(REMINDER, "Read the notes."))).toBe(plain);
    expect(keyOf(says(REMINDER, REMINDER, "Read the notes."))).toBe(plain);
    expect(keyOf(says(`${REMINDER}\nRead the notes.`))).toBe(plain);
    expect(keyOf({ role: "user", text: `Read the notes.\n${REMINDER}` })).toBe(plain);
    expect(keyOf(says("Read the letters."))).not.toBe(plain);
  });

  test("the opening key of a message without a reminder is the canonical key", () => {
    expect(keyOf(says(REMINDER))).toBe(buildCanonicalKey(says(REMINDER)));
    expect(keyOf(says("What is a <system-reminder>?"))).toBe(
      buildCanonicalKey(says("What is a <system-reminder>?")),
    );
  });

  test("the opening key tells different pictures with the same words apart", () => {
    const picture = (bytes: string): MessageInput => ({
      role: "user",
      parts: [
        { type: "text", text: REMINDER },
        { type: "text", text: "What is this?" },
        { type: "data", mime: "image/png", data: Buffer.from(bytes) },
      ],
    });
    expect(keyOf(picture("a cat"))).not.toBe(keyOf(picture("a dog")));
    expect(keyOf(picture("a cat"))).toBe(keyOf(picture("a cat")));
  });

  test("computing an opening key does not read a message that has no reminder", () => {
    const input = () => {
      throw new Error("read");
    };
    expect(buildOpeningKey({ key: "key", input }, Buffer.from('{"role":"user","content":"Hello."}'))).toBe(
      "key",
    );
  });

  test("the opening key replaces only the first key of a line", () => {
    expect(replaceOpening(["a", "b"], "x")).toEqual(["x", "b"]);
    expect(replaceOpening([], "x")).toEqual([]);
  });
});
