import { generateText, type ModelMessage } from "ai";
import { describe, expect, test } from "vitest";
import { fitMessages, withLonghaul } from "../../../src/adapters/ai/index.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { reply, speaking } from "./speaking.ts";

const models = { "*": { window: 12_000 } };
const words = (turn: number) => `Words of turn ${turn}: `.repeat(60);

/** A long conversation without tools. */
function talk(turns: number): ModelMessage[] {
  return Array.from({ length: turns }, (_, turn): ModelMessage[] => [
    { role: "user", content: `Question ${turn}. ${words(turn)}` },
    { role: "assistant", content: `Answer ${turn}. ${words(turn)}` },
  ]).flat();
}

const repeatsIn = (roles: readonly string[]) => roles.filter((role, at) => at > 0 && role === roles[at - 1]);

describe("a long talk in a small window", () => {
  sizedTest.each(proofCases(["caller", "session"] as const))(
    "a long talk in a small window is sent with alternating roles, history kept by the %s",
    async (history) => {
      const { session, plain, kernel } = await speaking();
      const sent: { readonly role: string; readonly content: unknown }[][] = [];
      const model = plain("openai-chat", (body) => {
        const { messages } = JSON.parse(body);
        sent.push(messages);
        return reply({
          text: `Answer ${sent.length}. ${words(sent.length)}`,
          usage: { input: body.length / 4, output: 9 },
        });
      });
      const wrapped = withLonghaul(model, { session, history, blobs: kernel.blobs, models });
      const messages: ModelMessage[] = [];
      for (let turn = 0; turn < 40; turn++) {
        const content = `Question ${turn}. ${words(turn)}`;
        messages.push({ role: "user", content });
        const given = history === "session" ? messages.slice(-1) : messages;
        const { text } = await generateText({ model: wrapped, messages: given, maxRetries: 0 });
        messages.push({ role: "assistant", content: text });
      }
      expect(sent.at(-1)?.length).toBeLessThan(60);
      for (const request of sent) expect(repeatsIn(request.map(({ role }) => role))).toEqual([]);
      expect(JSON.stringify(sent.at(-1))).toContain("Question 39.");
    },
  );

  test("a long talk keeps alternating roles when it is fitted without a session", async () => {
    for (const turns of [40, 41, 60]) {
      const given: ModelMessage[] = [...talk(turns), { role: "user", content: "And now?" }];
      const fitted = await fitMessages(given, { model: "some-model", models });
      expect(fitted.length).toBeLessThan(given.length);
      expect(repeatsIn(fitted.map(({ role }) => role))).toEqual([]);
      expect(fitted[0]?.role).toBe("user");
    }
  });

  test("fitting keeps two messages in a row with the same role if the caller sent such a pair", async () => {
    const double: ModelMessage = { role: "user", content: "One more thing." };
    const given: ModelMessage[] = [...talk(40), { role: "user", content: "And now?" }, double];
    const fitted = await fitMessages(given, { model: "some-model", models });
    expect(fitted.slice(-2)).toEqual(given.slice(-2));
  });
});
