import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import type { BlobPart, Part } from "../../../src/model/part.ts";
import { estimateMessage, estimateText, IMAGE_TOKENS, SAFETY } from "../../../src/window/tokens/estimate.ts";
import { proofTest } from "../../support/proof.ts";

/** Original texts with their exact o200k_base counts. */
const COUNTED: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  [
    "English prose",
    "A session that runs for weeks collects far more text than any model can read at once. Most of it is never needed again: listings of folders, logs of builds that passed, three copies of the same file. What matters is small and scattered. A decision made on the first day, the name of a table, the reason why an obvious fix did not work. A good memory keeps all of it on disk, shows the model a short and honest extract, and brings back the rest when somebody asks for it.",
    104,
  ],
  [
    "TypeScript",
    'export async function readEntries(store: Store, options: ReadOptions): Promise<readonly Entry[]> {\n  const entries: Entry[] = [];\n  for await (const chunk of store.scan(options.from, options.to)) {\n    if (chunk.kind !== "message") continue;\n    entries.push({ seq: chunk.seq, at: chunk.at, body: decodeBody(chunk.bytes) });\n    if (entries.length >= options.limit) break;\n  }\n  return entries;\n}\n',
    95,
  ],
  [
    "Python",
    'def merge_intervals(intervals):\n    """Join intervals that touch or overlap."""\n    merged = []\n    for start, end in sorted(intervals):\n        if merged and start <= merged[-1][1]:\n            merged[-1][1] = max(merged[-1][1], end)\n        else:\n            merged.append([start, end])\n    return merged\n\n\nif __name__ == "__main__":\n    print(merge_intervals([(1, 3), (2, 6), (8, 10), (15, 18)]))\n',
    114,
  ],
  [
    "Chinese",
    "长时间运行的智能体会积累大量文本，远远超过模型一次能够阅读的范围。其中大部分内容以后不会再用到，例如目录列表、构建日志以及同一个文件的多个副本。真正重要的信息很少，而且分散在各处：第一天做出的决定、数据表的名称，以及某个看起来正确的修改为什么没有生效。好的记忆系统会把所有内容保存在磁盘上，只向模型展示简短而真实的摘录，并在需要的时候把其余部分取回来。",
    116,
  ],
  [
    "Chinese with code",
    "请先运行 `npm test`，然后打开 src/session.ts，检查 appendMessage 函数是否在写入失败时返回错误。如果测试仍然失败，就把日志里的最后 20 行发给我，不要修改 package.json 中的依赖版本。",
    55,
  ],
  [
    "JSON",
    '{\n  "id": "req_8412",\n  "model": "large-2",\n  "created": 1763190000,\n  "messages": [\n    {\n      "role": "user",\n      "content": "List the open tasks and sort them by age."\n    },\n    {\n      "role": "assistant",\n      "tool_calls": [\n        {\n          "name": "list_tasks",\n          "arguments": {\n            "status": "open",\n            "limit": 25,\n            "sort": [\n              "created_at",\n              "asc"\n            ]\n          }\n        }\n      ]\n    }\n  ],\n  "usage": {\n    "input_tokens": 1832,\n    "output_tokens": 96,\n    "cached": true\n  }\n}',
    162,
  ],
];

/** Texts in other scripts with their exact o200k_base counts. */
const OTHER_SCRIPTS: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  ["rare Russian words", "Быстрая коричневая лиса прыгает через ленивую собаку. ".repeat(60), 1_142],
  [
    "Russian prose",
    "Мы решили перенести базу данных на новый сервер, потому что старый уже не справлялся с нагрузкой. Сначала нужно остановить все фоновые задачи, затем сделать резервную копию и проверить её целостность. После этого можно переключить приложение и посмотреть журналы ошибок. Если что-то пойдёт не так, вернёмся к прежней версии и разберёмся завтра утром.",
    84,
  ],
  [
    "Ukrainian",
    "Ми вирішили перенести базу даних на новий сервер, тому що старий уже не витримував навантаження. Спершу треба зупинити всі фонові завдання, потім зробити резервну копію й перевірити її цілісність.",
    63,
  ],
  ["a Thai greeting", "สวัสดีครับ ผมชื่อสมชาย ".repeat(80), 801],
  [
    "Thai prose",
    "เราตัดสินใจย้ายฐานข้อมูลไปยังเซิร์ฟเวอร์ใหม่ เพราะเครื่องเก่ารับภาระงานไม่ไหวแล้ว ก่อนอื่นต้องหยุดงานเบื้องหลังทั้งหมด จากนั้นสำรองข้อมูลและตรวจสอบความถูกต้อง แล้วจึงเปลี่ยนแอปพลิเคชันและดูบันทึกข้อผิดพลาด",
    76,
  ],
  ["rare emoji", "🦊🚀".repeat(400), 2_000],
  ["common emoji", "😀😂🤣😍🙏👍🔥💯✨🎯📦🧪🛠️🚨⚠️✅❌", 29],
];

const digest = "0".repeat(64);

function assistant(...parts: readonly Part[]): Message {
  return { role: "assistant", parts };
}

function spilled(preview: string, sizeBytes: number): BlobPart {
  return { type: "blob", of: "text", mime: "text/plain", digest, sizeBytes, preview };
}

describe("estimateText", () => {
  test.each(COUNTED)("estimateText stays within the safety margin on %s", (_, text, tokens) => {
    expect(estimateText(text) * SAFETY).toBeGreaterThan(tokens);
    expect(estimateText(text)).toBeLessThan(tokens * SAFETY);
  });

  test.each(OTHER_SCRIPTS)(
    "estimateText on %s is at most 30 % too high, and within the safety margin if too low",
    (_, text, tokens) => {
      expect(estimateText(text) * SAFETY).toBeGreaterThan(tokens);
      expect(estimateText(text)).toBeLessThan(tokens * 1.3);
    },
  );

  test("estimateText is off by less than 10 % on average", () => {
    const errors = COUNTED.map(([, text, tokens]) => Math.abs(estimateText(text) / tokens - 1));
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.1);
  });

  test("estimateText returns 0 for an empty text and at least 1 otherwise", () => {
    expect(estimateText("")).toBe(0);
    expect(estimateText(" ")).toBe(1);
  });

  proofTest(
    "estimateText returns a count for any text, broken surrogates included, and at most two tokens per byte",
    () => {
      const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.string({ unit: "grapheme" }));
      fc.assert(
        fc.property(anyText, (text) => {
          const tokens = estimateText(text);
          expect(Number.isInteger(tokens)).toBe(true);
          expect(tokens).toBeGreaterThanOrEqual(0);
          expect(tokens).toBeLessThanOrEqual(2 * Buffer.byteLength(text) + 3);
        }),
      );
    },
  );

  test("estimateText of two texts is nearly the sum of their estimates", () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 40 }), fc.lorem({ maxCount: 40 }), (one, other) => {
        const apart = estimateText(one) + estimateText(other);
        expect(Math.abs(estimateText(`${one} ${other}`) - apart)).toBeLessThanOrEqual(3);
      }),
    );
  });
});

describe("estimateMessage", () => {
  const text = "The kernel keeps every word and the window shows what fits.";

  test("estimateMessage counts text, reasoning, the name and input of calls, and results", () => {
    const plain = estimateMessage(assistant({ type: "text", text }));
    const thought = estimateMessage(assistant({ type: "reasoning", text }));
    const called = estimateMessage(
      assistant({ type: "tool-call", callId: "1", name: "read_file", input: { path: text } }),
    );
    const answered = estimateMessage({
      role: "tool",
      parts: [{ type: "tool-result", callId: "1", output: [{ type: "text", text }] }],
    });
    expect(plain).toBeGreaterThan(estimateText(text));
    expect(thought).toBe(plain);
    expect(called).toBeGreaterThan(plain);
    expect(answered).toBeGreaterThan(plain);
  });

  test("estimateMessage ignores the signature of readable reasoning, but counts reasoning that is only ciphertext", () => {
    const opaque = "x".repeat(4_000);
    const readable = estimateMessage(assistant({ type: "reasoning", text, opaque }));
    expect(readable).toBe(estimateMessage(assistant({ type: "reasoning", text })));
    expect(estimateMessage(assistant({ type: "reasoning", text: "", opaque }))).toBeGreaterThan(900);
  });

  test("estimateMessage counts an image as a fixed number of tokens, also inside a result", () => {
    const image: BlobPart = { type: "blob", mime: "image/png", digest, sizeBytes: 3_000_000 };
    const message: Message = { role: "tool", parts: [{ type: "tool-result", callId: "1", output: [image] }] };
    expect(estimateMessage(assistant(image))).toBeLessThan(IMAGE_TOKENS + 20);
    expect(estimateMessage(message)).toBeGreaterThanOrEqual(IMAGE_TOKENS);
  });

  test("estimateMessage estimates a text in a blob from its preview, in any script", () => {
    const english = `${text} `;
    const chinese = "会话日志保存每一句话,窗口只显示放得下的内容。";
    for (const sample of [english, chinese]) {
      const whole = sample.repeat(500);
      const blob = spilled(sample.repeat(20), Buffer.byteLength(whole));
      const ratio =
        estimateMessage(assistant(blob)) / estimateMessage(assistant({ type: "text", text: whole }));
      expect(ratio).toBeGreaterThan(0.97);
      expect(ratio).toBeLessThan(1.03);
    }
  });

  test("estimateMessage counts the tool name of a call in a blob", () => {
    const call: BlobPart = { ...spilled("{}", 2), of: "tool-call", callId: "1", toolName: "write_to_file" };
    expect(estimateMessage(assistant(call))).toBeGreaterThan(estimateMessage(assistant(spilled("{}", 2))));
  });

  test("estimateMessage has a safety margin of a fifth", () => expect(SAFETY).toBe(1.2));
});

test("a picture inside a raw part counts as many tokens as any other picture", () => {
  const screenshot = (image_url: string) => ({
    type: "raw" as const,
    format: "openai-responses",
    value: { type: "computer_call_output", call_id: "a", output: { type: "computer_screenshot", image_url } },
  });
  const tokensOf = (image_url: string) => estimateMessage({ role: "tool", parts: [screenshot(image_url)] });
  const bare = tokensOf("");
  expect(tokensOf(`data:image/png;base64,${"QUJD".repeat(10_000)}`)).toBeCloseTo(bare + IMAGE_TOKENS, -1);
});
