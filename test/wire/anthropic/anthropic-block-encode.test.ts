import { describe, expect, test } from "vitest";
import type { BlobPart, Part } from "../../../src/kernel/index.ts";
import { encodeAnthropicBlocks } from "../../../src/wire/anthropic/anthropic-block-encode.ts";
import { decodeAnthropicBlocks } from "../../../src/wire/anthropic/decode-anthropic.ts";
import type { PartSource } from "../../../src/wire/part-source.ts";
import { PNG } from "../../histories/cline/task-folder.ts";

const whole: Part = { type: "text", text: "a long text" };
const source: PartSource = {
  base64: async () => PNG,
  restore: async (part) => (part.type === "blob" && part.of ? whole : part),
};
const blob = (mime: string, more: Partial<BlobPart> = {}): BlobPart => ({
  type: "blob",
  digest: "0".repeat(64),
  sizeBytes: 68,
  mime,
  ...more,
});

describe("parts as Anthropic blocks", () => {
  test("parts become the Anthropic blocks from which they were imported", async () => {
    const blocks = [
      { type: "text", text: "hello", cache_control: { type: "ephemeral" } },
      { type: "thinking", thinking: "hm", signature: "c2ln", summary: [] },
      { type: "redacted_thinking", data: "xyz" },
      { type: "tool_use", id: "t1", name: "look", input: { at: "a" }, call_id: "c" },
      { type: "tool_result", tool_use_id: "t1", is_error: true },
      { type: "server_tool_use", id: "s1", name: "search", input: {} },
    ];
    const { parts, extras } = decodeAnthropicBlocks(blocks, "anthropic");
    expect(await encodeAnthropicBlocks(parts as readonly Part[], source, extras)).toEqual(blocks);
  });

  test("parts become Anthropic blocks with media, and with the full text of parts too large for the log", async () => {
    const parts: Part[] = [
      blob("image/png"),
      blob("application/pdf", { name: "a.pdf" }),
      blob("text/plain", { of: "text", preview: "a lo" }),
      {
        type: "tool-result",
        callId: "t1",
        output: [{ type: "text", text: "seen" }, blob("image/png"), blob("text/plain", { of: "text" })],
      },
      { type: "tool-result", callId: "t2", output: [{ type: "text", text: "plain" }] },
    ];
    const png = { type: "base64", media_type: "image/png", data: PNG };
    expect(await encodeAnthropicBlocks(parts, source)).toEqual([
      { type: "image", source: png },
      { type: "document", source: { ...png, media_type: "application/pdf" }, title: "a.pdf" },
      { type: "text", text: "a long text" },
      {
        type: "tool_result",
        tool_use_id: "t1",
        content: [
          { type: "text", text: "seen" },
          { type: "image", source: png },
          { type: "text", text: "a long text" },
        ],
      },
      { type: "tool_result", tool_use_id: "t2", content: "plain" },
    ]);
  });

  test("content that only another tool understands becomes text, without that tool's ciphertext", async () => {
    const parts: Part[] = [
      { type: "raw", format: "codex", value: { type: "odd" } },
      { type: "reasoning", text: "hm", opaque: { encrypted: "xyz" } },
    ];
    expect(await encodeAnthropicBlocks(parts, source)).toEqual([
      { type: "text", text: '{"type":"odd"}' },
      { type: "thinking", thinking: "hm" },
    ]);
  });
});
