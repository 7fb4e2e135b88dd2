import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getConversation, toCallerMessages } from "../../../src/adapters/ai/sdk-conversation.ts";
import type { SdkMessage } from "../../../src/adapters/ai/sdk-message.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { lineOf, logOf } from "./speaking.ts";

/** Changes a caller makes to its history between two calls. */
const steps = fc.array(
  fc.oneof(
    fc.record({ does: fc.constant("say" as const), word: fc.nat(5) }),
    fc.record({ does: fc.constant("cut" as const), at: fc.nat(20) }),
    fc.record({ does: fc.constant("change" as const), at: fc.nat(20), word: fc.nat(5) }),
    fc.record({ does: fc.constant("insert" as const), at: fc.nat(20), word: fc.nat(5) }),
  ),
  { minLength: 1, maxLength: 14 },
);

const said = (word: number, at: number): SdkMessage => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: `word ${word}`,
});

describe("a caller's history in the log", () => {
  sizedTest(
    "the log's line equals the caller's history after every call, and no earlier message is lost",
    async () => {
      const kernel = await testKernel();
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), async (all, isReopened) => {
          let session = await kernel.session();
          let history: SdkMessage[] = [];
          let messages = 0;
          for (const step of all) {
            if (step.does === "say") history = [...history, said(step.word, history.length)];
            if (step.does === "cut") history = history.slice(0, step.at);
            if (step.does === "change" && history.length > 0)
              history = history.with(step.at % history.length, said(step.word, step.at % history.length));
            if (step.does === "insert") history = history.toSpliced(step.at, 0, said(step.word, step.at));
            if (isReopened) session = await kernel.session(session.id);
            const conversation = getConversation(session);
            const given = toCallerMessages(history, new Map());
            const placed = await conversation.runInTurn(() => conversation.takeAllMessages(given));
            expect(await lineOf(session)).toEqual(history.map(({ role, content }) => `${role}: ${content}`));
            const { entries } = await session.page({ kinds: ["message"], limit: 1_000 });
            expect(entries.map(({ id }) => placed.byId.get(id)?.callerMessage.key)).toEqual(
              given.map(({ key }) => key),
            );
            const count = (await logOf(session)).filter(({ kind }) => kind === "message").length;
            expect(count).toBeGreaterThanOrEqual(messages);
            messages = count;
          }
        }),
        { numRuns: proofRounds(40) },
      );
    },
  );

  test("a caller's history that only grows is stored once, however often it is handed over", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const conversation = getConversation(session);
    const history: SdkMessage[] = [];
    for (let at = 0; at < 50; at++) {
      history.push(said(at % 3, at));
      const given = toCallerMessages(history, new Map());
      await conversation.runInTurn(() => conversation.takeAllMessages(given));
      await conversation.runInTurn(() => conversation.takeAllMessages(given));
    }
    expect((await session.head()).seq).toBe(50);
  });

  test("words that were erased do not return with the caller's history, whichever message had them", async () => {
    const kernel = await testKernel();
    for (let erased = 1; erased <= 8; erased++) {
      const first = await kernel.session();
      const history = Array.from({ length: 8 }, (_, at) => said(at, at));
      const take = (session: typeof first) => {
        const conversation = getConversation(session);
        return conversation.runInTurn(() =>
          conversation.takeAllMessages(toCallerMessages(history, new Map())),
        );
      };
      await take(first);
      await first.redact(erased);
      await first.close();
      const session = await kernel.session(first.id);
      history.push(said(8, 8));
      await take(session);
      const kept = history.filter((_, at) => at + 1 !== erased);
      expect(await lineOf(session)).toEqual(kept.map(({ role, content }) => `${role}: ${content}`));
      expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(8);
    }
  });
});
