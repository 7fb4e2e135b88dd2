import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { proofTestIf } from "../../support/proof.ts";
import { type CountedFormat, countRaw } from "./index.ts";

const transcripts = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const manifest = join(transcripts, "manifest.json");

interface ManifestFile {
  readonly gz: string;
  readonly fmt: CountedFormat;
  readonly messages: number;
  readonly tool_calls: number;
  readonly images: number;
}

const lines = (...records: object[]) => records.map((record) => JSON.stringify(record)).join("\n");

describe("the independent counter", () => {
  proofTestIf(existsSync(manifest))(
    "the independent counter agrees with the recorded counts of every real file",
    () => {
      const files: ManifestFile[] = JSON.parse(readFileSync(manifest, "utf8"));
      expect(files.length).toBeGreaterThan(0);
      for (const { gz, fmt, messages, tool_calls: toolCalls, images } of files) {
        const raw = gunzipSync(readFileSync(join(transcripts, gz)));
        expect({ gz, ...countRaw(fmt, raw) }).toMatchObject({ gz, messages, toolCalls, images });
      }
    },
  );

  test("the independent counter counts split lines of a Claude Code message once, and messages of sub-agents separately", () => {
    const call = { type: "tool_use", id: "t1", name: "Read", input: {} };
    const answer = (id: string, block: object) => ({ type: "assistant", message: { id, content: [block] } });
    const picture = { type: "tool_result", tool_use_id: "t1", content: [{ type: "image" }] };
    const text = lines(
      { type: "user", uuid: "a", message: { content: "hello" } },
      answer("m1", { type: "text", text: "I look" }),
      answer("m1", call),
      { type: "user", uuid: "b", message: { content: [picture] }, toolUseResult: { type: "image" } },
      { type: "progress", data: { type: "agent_progress", message: answer("m2", { ...call, id: "t2" }) } },
    );
    expect(countRaw("claude-code", text)).toEqual({
      messages: 3,
      toolCalls: 1,
      images: 1,
      besides: { messages: 1, toolCalls: 1, images: 0 },
      bytes: text.length,
    });
  });

  test("the independent counter counts a Gemini message once, in a file or in lines", () => {
    const asked = { id: "1", type: "user", content: [{ inlineData: { mimeType: "image/png", data: "" } }] };
    const called = { id: "2", type: "gemini", content: "", toolCalls: [{ id: "c" }, { id: "d" }] };
    const expected = { messages: 2, toolCalls: 2, images: 1 };
    expect(
      countRaw("gemini-cli", JSON.stringify({ sessionId: "s", messages: [asked, called] })),
    ).toMatchObject(expected);
    const earlier = { ...called, toolCalls: [] };
    const text = lines({ sessionId: "s" }, asked, earlier, called, { $rewindTo: "2" });
    expect(countRaw("gemini-cli", text)).toMatchObject(expected);
  });

  test("the independent counter skips broken lines", () => {
    const text = `{"type":"message","message":{"content":[{"type":"toolCall"}]}}\n{"type":"mess\n[1]\n\n`;
    expect(countRaw("pi", text)).toMatchObject({ messages: 1, toolCalls: 1, images: 0 });
  });
});
