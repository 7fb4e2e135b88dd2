import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, MessageInput, PartInput } from "../../../../src/kernel/index.ts";
import { buildCanonicalKey, isSimilarKey } from "../../../../src/server/gateway/identity/canonical-key.ts";

const said = (...parts: PartInput[]): MessageInput => ({ role: "assistant", parts });
const call = (input: Json, callId = "c1"): PartInput => ({ type: "tool-call", callId, name: "read", input });
const result = (output: string, rest = {}): PartInput => ({
  type: "tool-result",
  callId: "c1",
  output,
  ...rest,
});

describe("the key of equal messages", () => {
  test("a message has the same key as a string and as blocks, and with other white space or line ends", () => {
    const key = buildCanonicalKey({ role: "user", text: "one\ntwo" });
    expect(buildCanonicalKey({ role: "user", parts: [{ type: "text", text: "one\ntwo" }] })).toBe(key);
    expect(buildCanonicalKey({ role: "user", text: "  one\r\ntwo\n" })).toBe(key);
    const split = ["one", "", "two"].map((text) => ({ type: "text", text }) as const);
    expect(buildCanonicalKey({ role: "user", parts: split })).toBe(key);
  });

  test("a message has the same key with and without reasoning", () => {
    const text = { type: "text", text: "Done." } as const;
    const thought = { type: "reasoning", text: "hm", opaque: "sig" } as const;
    expect(buildCanonicalKey(said(thought, text))).toBe(buildCanonicalKey(said(text)));
  });

  test("a message has the same key under other call ids, and with arguments as text", () => {
    const key = buildCanonicalKey(said(call({ path: "a", lines: [1, 2] })));
    expect(buildCanonicalKey(said(call({ lines: [1, 2], path: "a" }, "other")))).toBe(key);
    expect(buildCanonicalKey(said(call('{"lines": [1, 2], "path":"a"}')))).toBe(key);
    expect(buildCanonicalKey(said(call({})))).toBe(buildCanonicalKey(said(call(""))));
  });

  test("a tool result has the same key from a tool and from the user", () => {
    const key = buildCanonicalKey({ role: "tool", parts: [result("ok\n")] });
    expect(buildCanonicalKey({ role: "user", parts: [result("ok", { isError: false })] })).toBe(key);
    const blocks = { type: "tool-result", callId: "x", output: [{ type: "text", text: "ok" }] } as const;
    expect(buildCanonicalKey({ role: "tool", parts: [blocks] })).toBe(key);
  });

  test("bytes have the same key as base64, as a data URL, as bytes and as a blob of the log", () => {
    const bytes = Buffer.from("an image");
    const digest = createHash("sha256").update(bytes).digest("hex");
    const keys = [
      { type: "data", data: bytes.toString("base64"), mime: "image/png" },
      { type: "data", data: `data:image/png;base64,${bytes.toString("base64")}` },
      { type: "data", data: new Uint8Array(bytes) },
      { type: "blob", digest, sizeBytes: bytes.length, mime: "image/png" },
    ] satisfies PartInput[];
    expect(new Set(keys.map((part) => buildCanonicalKey({ role: "user", parts: [part] }))).size).toBe(1);
  });

  test("an unknown block keeps its key when its cache marker moves", () => {
    const block = { type: "search_result", title: "x" };
    const raw = (value: Json) => said({ type: "raw", format: "anthropic", value });
    const marked = { ...block, cache_control: { type: "ephemeral" } };
    expect(buildCanonicalKey(raw(marked))).toBe(buildCanonicalKey(raw(block)));
  });

  test("a large text has the same key as its blob in the log", () => {
    const text = "long ".repeat(20_000);
    const digest = createHash("sha256").update(text).digest("hex");
    const blob = { type: "blob", of: "text", digest, sizeBytes: text.length, mime: "text/plain" } as const;
    expect(buildCanonicalKey({ role: "user", parts: [blob] })).toBe(
      buildCanonicalKey({ role: "user", text }),
    );
    const large = call({ content: text });
    const spilled = { ...blob, of: "tool-call", callId: "c1", toolName: "read" } as const;
    expect(buildCanonicalKey(said(spilled))).toBe(buildCanonicalKey(said(large)));
  });
});

describe("the key of different messages", () => {
  test("messages that differ in role, text, call or result have different keys", () => {
    const messages: MessageInput[] = [
      { role: "user", text: "a" },
      { role: "assistant", text: "a" },
      { role: "system", text: "a" },
      { role: "user", text: "b" },
      { role: "user", text: "" },
      said(call({ path: "a" })),
      said(call({ path: "b" })),
      said({ type: "tool-call", callId: "c1", name: "write", input: { path: "a" } }),
      said(call({ path: "a" }), call({ path: "a" }, "c2")),
      { role: "tool", parts: [result("a")] },
      { role: "tool", parts: [result("a", { isError: true })] },
      { role: "tool", parts: [result("a"), result("b")] },
      { role: "tool", parts: [result("a"), { type: "text", text: "b" }] },
    ];
    expect(new Set(messages.map((message) => buildCanonicalKey(message))).size).toBe(messages.length);
  });

  test("messages have different keys even if one text looks like the pieces of another message", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { maxLength: 4 }),
        fc.array(fc.string(), { maxLength: 4 }),
        (one, other) => {
          const message = (outputs: readonly string[]) =>
            buildCanonicalKey({ role: "tool", parts: outputs.map((output) => result(output)) });
          const plain = (outputs: readonly string[]) =>
            JSON.stringify(outputs.map((text) => text.replace(/\r\n?/g, "\n").trim()));
          expect(message(one) === message(other)).toBe(plain(one) === plain(other));
        },
      ),
    );
  });

  test("messages that differ only in tool arguments have similar keys", () => {
    const one = buildCanonicalKey(said({ type: "text", text: "Reading." }, call({ path: "a" })));
    const other = buildCanonicalKey(said({ type: "text", text: "Reading." }, call({ path: "b" })));
    expect(isSimilarKey(one, other)).toBe(true);
    expect(
      isSimilarKey(one, buildCanonicalKey(said({ type: "text", text: "Read." }, call({ path: "a" })))),
    ).toBe(false);
  });
});

test("the order of fields never changes a key", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const turned = Object.fromEntries(Object.entries(input).reverse());
      const json = JSON.stringify(input);
      const key = buildCanonicalKey(said(call(JSON.parse(json))));
      expect(buildCanonicalKey(said(call(JSON.parse(JSON.stringify(turned)))))).toBe(key);
      expect(buildCanonicalKey(said(call(json)))).toBe(key);
    }),
  );
});
