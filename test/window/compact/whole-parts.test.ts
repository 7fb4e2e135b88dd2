import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SECTIONS, type Slot } from "../../../src/kernel/faces/window.ts";
import type { Message, Session } from "../../../src/kernel/index.ts";
import { renderTranscript } from "../../../src/window/compact/contract/summary-prompt.ts";
import { divideSlot, MAX_PIECES } from "../../../src/window/compact/plan/split-by-tokens.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import type { Provider } from "../../../src/wire/provider/provider.ts";
import { testKernel } from "../../support/kernel.ts";

/** A model that records its prompts and writes valid summaries. */
function reader(): Provider & { prompts: string[] } {
  return {
    id: "test/reader",
    prompts: [],
    async generate({ prompt }) {
      this.prompts.push(typeof prompt === "string" ? prompt : JSON.stringify(prompt));
      return { text: SECTIONS.map(({ heading }) => `## ${heading}\n- t`).join("\n"), finishReason: "stop" };
    },
  };
}

const FACT = "DECISION: the vault code is QUOKKA-5512.";
const lines = (characters: number) => "the build was discussed at some length\n".repeat(characters / 39);

async function conversation(session: Session, message: Parameters<Session["append"]>[0]): Promise<void> {
  await session.append({ role: "user", text: "FIRST" });
  await session.append({ role: "assistant", text: "ok" });
  await session.append(message);
  for (let number = 0; number < 5; number++) {
    await session.append({ role: "assistant", text: `a${number}` });
    await session.append({ role: "user", text: `q${number}` });
  }
}

describe("the prompts of a summarizer", () => {
  for (const [characters, window] of [
    [50_000, 200_000],
    [70_000, 200_000],
    [200_000, 200_000],
    [200_000, 32_000],
  ] as const)
    test(`a summarizer with a window of ${window} sees every word of a message of ${characters} characters`, async () => {
      const session = await (
        await testKernel({ path: ":memory:", models: { "test/*": { window } } })
      ).session();
      const half = lines(characters / 2);
      await conversation(session, { role: "user", text: `${half}\n${FACT}\n${half}` });
      const model = reader();
      await session.compact({ model, tries: 1 });
      expect(model.prompts.some((prompt) => prompt.includes(FACT))).toBe(true);
      const shown = model.prompts.join("").split("the build was discussed").length - 1;
      expect(shown).toBeGreaterThanOrEqual(half.split("\n").length * 2 - 2);
      // No prompt is larger than the model's window.
      for (const prompt of model.prompts) expect(prompt.length / 4).toBeLessThan(window);
    });

  test("a summarizer sees every word of a tool result that is stored in a blob", async () => {
    const session = await (await testKernel()).session();
    const half = lines(100_000);
    await session.append({ role: "user", text: "FIRST" });
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId: "1", name: "read", input: { path: "vault.ts" } }],
    });
    await conversation(session, {
      role: "tool",
      parts: [{ type: "tool-result", callId: "1", output: `${half}\n${FACT}\n${half}` }],
    });
    const model = reader();
    await session.compact({ model, tries: 1 });
    expect(model.prompts.some((prompt) => prompt.includes(FACT))).toBe(true);
    expect((await session.overlays.list())[0]?.entry.summary).toBeDefined();
  });

  test("a summarizer is told what is left out of a message that is larger than many prompts", async () => {
    const session = await (
      await testKernel({ path: ":memory:", models: { "test/*": { window: 8_000 } } })
    ).session();
    await conversation(session, { role: "user", text: `${lines(400_000)}${FACT}` });
    const model = reader();
    await session.compact({ model, tries: 1 });
    expect(model.prompts.some((prompt) => prompt.includes(FACT))).toBe(true);
    expect(model.prompts.join("")).toMatch(
      /\[… \d+ characters of #3 are left out here; they are in the log …\]/,
    );
  });

  test("a transcript shows whole texts by default, and says so where only the ends of a part are at hand", () => {
    const text = lines(20_000);
    const message: Message = {
      role: "user",
      parts: [
        { type: "text", text },
        {
          type: "blob",
          hash: "a".repeat(64),
          mime: "text/plain",
          sizeBytes: 90_000,
          of: "text",
          preview: "ends",
        } as never,
      ],
    };
    const transcript = renderTranscript([{ seq: 1, at: 0, message }]);
    expect(transcript).toContain(text.trim());
    expect(transcript).toContain("[only the ends of 90000 bytes are shown]");
  });
});

test("a message is split into pieces below the limit that hold all its words in order", () => {
  const texts = fc.array(fc.string({ unit: "grapheme", minLength: 0, maxLength: 400 }), { maxLength: 30 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 60, max: 2_000 }), (words, maxTokens) => {
      const text = words.join("\n");
      const message: Message = { role: "user", parts: [{ type: "text", text }] };
      const slot: Slot = { seq: 7, at: 0, message, tokens: estimateMessage(message) };
      const pieces = divideSlot(slot, maxTokens);
      expect(pieces.every(({ seq }) => seq === 7)).toBe(true);
      const said = pieces.map(({ message: { parts } }) =>
        parts
          .map((part) => ("text" in part ? part.text.replace(/^\(piece \d+ of \d+\)\n/, "") : ""))
          .join(""),
      );
      if (pieces.length < MAX_PIECES) expect(said.join("")).toBe(text);
      expect(said.every((one) => one.isWellFormed() || !text.isWellFormed())).toBe(true);
    }),
  );
});
