import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLonghaulError } from "../../../src/model/errors.ts";
import type { Message } from "../../../src/model/message.ts";
import { estimateMessage, tokensOfMessage } from "../../../src/window/tokens/estimate.ts";
import { countInPieces, loadTokenizer, type TokenizerName } from "../../../src/window/tokens/tokenizer.ts";

const SOURCE = fileURLToPath(new URL("../../../src/window/tokens/tokenizer.ts", import.meta.url));

describe("loadTokenizer", () => {
  test("loadTokenizer returns exact counts", async () => {
    const [o200k, cl100k] = [await loadTokenizer("o200k_base"), await loadTokenizer("cl100k_base")];
    expect(o200k.name).toBe("o200k_base");
    expect(o200k.count("")).toBe(0);
    expect(o200k.count("Hello, world!")).toBe(4);
    expect(cl100k.count("智能体的记忆")).toBeGreaterThan(o200k.count("智能体的记忆"));
  });

  test("loadTokenizer loads an encoding once", async () => {
    expect(await loadTokenizer("o200k_base")).toBe(await loadTokenizer("o200k_base"));
  });

  test("loadTokenizer counts special tokens in a text as ordinary words", async () => {
    const { count } = await loadTokenizer("o200k_base");
    expect(count("before <|endoftext|> behind")).toBeGreaterThan(5);
  });

  test("loadTokenizer counts a megabyte without a space nearly exactly", async () => {
    const { count } = await loadTokenizer("o200k_base");
    expect(count("a".repeat(1_000_000)) / 125_000).toBeCloseTo(1, 1);
    expect(count("=".repeat(1_000_000)) / 15_625).toBeCloseTo(1, 1);
    expect(count(" ".repeat(1_000_000))).toBeLessThan(20_000);
  });

  test("loadTokenizer refuses an encoding that does not exist", async () => {
    await expect(loadTokenizer("p9k" as TokenizerName)).rejects.toSatisfy((error) =>
      isLonghaulError(error, "ARGUMENT_INVALID"),
    );
  });

  test("loadTokenizer says what to install where the package is missing", () => {
    const script = `
      import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) {
        if (name.startsWith("gpt-tokenizer")) throw new Error("Cannot find package");
        return next(name, context);
      } });
      const { loadTokenizer } = await import(${JSON.stringify(SOURCE)});
      await loadTokenizer("o200k_base").catch((error) => console.log(error.code, error.details.package, error.message));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      encoding: "utf8",
    });
    expect(stdout).toMatch(/^PACKAGE_MISSING gpt-tokenizer .*npm install gpt-tokenizer/);
  });
});

describe("countInPieces", () => {
  test("countInPieces passes every character to the counter once, in pieces without a long run", () => {
    const anyRun = fc
      .tuple(fc.constantFrom("a", "好", " ", "=", "9", "e\u0301", "😀"), fc.nat(700))
      .map(([unit, times]) => unit.repeat(times));
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 6 }), (runs) => {
        const text = runs.join("");
        const pieces: string[] = [];
        expect(countInPieces(text, (piece) => pieces.push(piece) && piece.length)).toBe(text.length);
        expect(pieces.join("")).toBe(text);
        expect(pieces.some((piece) => /\p{L}{513}|\s{513}|={513}/u.test(piece))).toBe(false);
      }),
    );
  });

  test("countInPieces passes ordinary text in one piece", () => {
    const text = "const total = sum(values); // a line\n".repeat(1_000);
    const pieces: string[] = [];
    countInPieces(text, (piece) => pieces.push(piece));
    expect(pieces).toEqual([text]);
  });
});

describe("tokensOfMessage", () => {
  const message: Message = {
    role: "assistant",
    parts: [
      { type: "text", text: "I read the file first." },
      { type: "tool-call", callId: "1", name: "read", input: { path: "src/session.ts" } },
      { type: "tool-result", callId: "1", output: [{ type: "text", text: "export class Session {}" }] },
    ],
  };

  test("tokensOfMessage returns the estimate without a tokenizer", () => {
    expect(tokensOfMessage(message)).toBe(estimateMessage(message));
  });

  test("tokensOfMessage counts texts with the tokenizer and adds the same overhead", () => {
    const nothing = { name: "nothing", count: () => 0 };
    const letters = { name: "letters", count: (text: string) => text.length };
    const texts = ["I read the file first.", "read", '{"path":"src/session.ts"}', "export class Session {}"];
    const frames = tokensOfMessage(message, nothing);
    expect(frames).toBeGreaterThan(0);
    expect(tokensOfMessage(message, letters) - frames).toBe(texts.join("").length);
  });
});
