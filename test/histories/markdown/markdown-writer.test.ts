import { describe, expect, test } from "vitest";
import {
  escapeInline,
  formatCodeBlock,
  markdownWriter,
  sanitizeMarkdown,
} from "../../../src/histories/markdown/markdown-writer.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import type { MessageInput, Usage } from "../../../src/kernel/index.ts";
import { toyFormat } from "../../support/toy-format.ts";
import { imported, kernelWith, PICTURE, written } from "../writing/round-trip.ts";

const transcript = async (...messages: MessageInput[]) =>
  written(await kernelWith(messages), "talk", markdownWriter);

const said = (id: string, message: MessageInput, at = 1_000): RecordItem => ({
  type: "record",
  id,
  at,
  body: { kind: "message", message },
});

const used = (id: string, usage: Usage, request: string): RecordItem => ({
  type: "record",
  id,
  body: { kind: "usage", usage, request },
});

async function transcriptOf(...items: Item[]): Promise<string> {
  const { kernel, session } = await imported(
    items.map((item) => JSON.stringify(item)).join("\n"),
    toyFormat,
    "talk.toy",
  );
  return written(kernel, session, markdownWriter);
}

/** Headings of a transcript outside code blocks, as a Markdown parser sees them. */
function headings(markdown: string): readonly string[] {
  let fence = "";
  return markdown.split("\n").filter((line) => {
    const mark = /^(`{3,}|~{3,})(.*)$/.exec(line);
    if (mark?.[1] && fence === "") fence = mark[1];
    else if (mark?.[1]?.startsWith(fence) && mark[2]?.trim() === "") fence = "";
    else return fence === "" && line.startsWith("#");
    return false;
  });
}

describe("the Markdown transcript", () => {
  test("the Markdown transcript contains title, facts and turns", async () => {
    const text = await transcriptOf(
      { type: "session", title: "Fix *the* bug" },
      said("a", { role: "user", text: "please" }, Date.UTC(2026, 0, 2, 3, 4, 5)),
      said("b", { role: "assistant", text: "done", model: "gpt-9" }, Date.UTC(2026, 0, 2, 3, 5, 0)),
      used("u1", { inputTokens: 1_000, outputTokens: 1 }, "r1"),
      used("u2", { inputTokens: 1_000, outputTokens: 20, cost: 0.5 }, "r1"),
      used("u3", { cacheReadTokens: 7, cost: 0.25 }, "r2"),
    );
    expect(text).toMatch(/^# Fix \\\*the\\\* bug\n/);
    expect(text).toContain(
      [
        "- Agent: pi",
        "- Model: gpt-9",
        "- Time: 2026-01-02 03:04:05 UTC to 2026-01-02 03:05:00 UTC",
        "- Messages: 2",
        "- Tokens: 1,000 input, 20 output, 7 read from cache",
        "- Cost: $0.7500",
        "",
        "## 1. User",
      ].join("\n"),
    );
    expect(text).toContain("## 2. Assistant\n\n*2026-01-02 03:05:00 UTC · gpt-9*\n\ndone\n");
  });

  test("the Markdown transcript folds long calls and results, and quotes reasoning", async () => {
    const text = await transcript(
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "first\nthen" },
          { type: "reasoning", text: "", opaque: "sealed" },
          { type: "tool-call", callId: "a", name: "ru<n>", input: { command: "ls" } },
        ],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: "a", isError: true, output: "x\n".repeat(50) }],
      },
    );
    expect(text).toContain("> **Reasoning**\n>\n> first\n> then\n");
    expect(text).toContain("> *Reasoning that only its provider can read*");
    expect(text).toContain(
      '**Tool call: <code>ru&lt;n&gt;</code>**\n\n```json\n{\n  "command": "ls"\n}\n```',
    );
    expect(text).toContain("<details><summary>Tool error</summary>\n\n```\nx\nx\n");
  });

  test("the Markdown transcript links media by their digest", async () => {
    const text = await transcript({
      role: "user",
      parts: [{ type: "data", data: PICTURE, name: "a]b.png" }],
    });
    expect(text).toMatch(/!\[a\\\]b\.png\]\(blobs\/[0-9a-f]{64}\.png\) \(image\/png, \d+ bytes\)/);
  });

  test("no message can break the structure of the Markdown transcript", async () => {
    const wild = [
      "# heading",
      "words\n---\nwords\n===",
      "```js\nopen to the end",
      "- ```js\n  code\n```\nnot code",
      "  ```\ncode\n  ```",
      "~~~\n# in code\n~~~",
      "</details><script>x</script>",
      "<!-- comment",
      "`````\n```\n`````",
      "````md\n```\n# x\n```\n````",
    ];
    const turns = wild.map((text): MessageInput => ({ role: "user", text }));
    const results = wild.map(
      (output): MessageInput => ({ role: "tool", parts: [{ type: "tool-result", callId: "x", output }] }),
    );
    const text = await transcript(...turns, ...results);
    const expected = [...turns.map(() => "User"), ...results.map(() => "Tool")].map(
      (speaker, index) => `## ${index + 1}. ${speaker}`,
    );
    expect(headings(text)).toEqual(["# A talk", ...expected]);
    const outsideCode = text.replace(/^(`{3,}|~{3,}).*\n[\s\S]*?^\1$/gm, "");
    expect(outsideCode).not.toMatch(/(?<!\\)<(script|!--|\/details><)/);
  });

  test("the Markdown transcript marks where the context was compacted, with the summary", async () => {
    const text = await transcriptOf(
      said("a", { role: "user", text: "long ago" }),
      {
        type: "record",
        id: "b",
        body: {
          kind: "overlay",
          edit: {
            type: "summarize",
            spans: [{ from: "a", through: "a" }],
            messages: [{ role: "user", text: "# they talked" }],
          },
          reason: "window full",
          tokensBefore: 120_000,
          tokensAfter: 8_000,
        },
      },
      { type: "record", id: "c", body: { kind: "notice", text: "Resumed." } },
    );
    expect(text).toContain("**Context compacted here** by pi (window full, 120,000 → 8,000 tokens)");
    expect(text).toContain("<details><summary>Summary</summary>\n\n\\# they talked\n\n</details>");
    expect(text).toContain("> **Note**\n>\n> Resumed.");
  });

  test("the Markdown transcript shows only the active line, and names sub-agents", async () => {
    const text = await transcriptOf(
      said("a", { role: "user", text: "ask" }),
      said("b", { role: "assistant", text: "wrong" }),
      { ...said("c", { role: "assistant", text: "right" }), parent: "a" },
      { ...said("d", { role: "user", text: "look" }), child: "helper" },
    );
    expect(text).toContain("right");
    expect(text).not.toContain("wrong");
    expect(text).toContain("## Sub-agents\n\n- look (pi/talk/helper)\n");
  });
});

describe("text that cannot break out", () => {
  test("harmless Markdown in a text stays unchanged", () => {
    const harmless =
      "A *word*, `<b>`, a list:\n\n- one\n  ```\n  code <i>\n  ```\n- two\n\n---\n\n| a | b |\n|---|---|";
    expect(sanitizeMarkdown(harmless)).toBe(harmless);
  });

  test("a text with an unclosed block becomes a quote", () => {
    expect(sanitizeMarkdown("```\nopen")).toBe("> ```\n> open");
  });

  test("a text with fences gets a longer fence, and markup in a line is escaped", () => {
    expect(formatCodeBlock("a\n````\nb")).toBe("`````\na\n````\nb\n`````");
    expect(escapeInline("a\n[b](c) <d> #1")).toBe("a \\[b\\]\\(c\\) \\<d\\> \\#1");
  });
});
