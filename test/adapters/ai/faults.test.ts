import { generateText, type ModelMessage, streamText } from "ai";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import type { Behaviour } from "../../support/wire-server/behaviour.ts";
import { lineOf, logOf, reply, speaking } from "./speaking.ts";

const answer = { text: "one two three four five", reasoning: "let me count" };
const behaviours: fc.Arbitrary<Behaviour> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(reply(answer)) },
  fc.constant<Behaviour>({ type: "error", kind: "overflow" }),
  fc.constant<Behaviour>({ type: "error", kind: "rate-limit" }),
  fc.constant<Behaviour>({ type: "error", kind: "server-error" }),
  fc.constant<Behaviour>({ type: "rubbish" }),
  fc.nat(12).map((afterEvents): Behaviour => ({ type: "cut", reply: answer, afterEvents })),
  fc.nat(12).map((afterEvents): Behaviour => ({ type: "cut", reply: answer, afterEvents, isOrderly: true })),
  fc
    .nat(12)
    .map(
      (afterEvents): Behaviour => ({ type: "error-midway", reply: answer, afterEvents, kind: "overloaded" }),
    ),
);
const turns = fc.array(
  fc.record({
    behaviour: behaviours,
    isStreaming: fc.boolean(),
    /** After a failure the caller repeats the request, or sends another one. */
    isAskedAgain: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

describe("a faulty provider", () => {
  sizedTest.each(["anthropic", "openai-chat"] as const)(
    "whatever a provider does, the log follows the caller's history and no reply is lost or doubled: %s",
    async (api) => {
      const { server, kernel, plain } = await speaking();
      await fc.assert(
        fc.asyncProperty(turns, async (all) => {
          const session = await kernel.session();
          const model = withLonghaul(plain(api), { session });
          const history: ModelMessage[] = [];
          let answers = 0;
          for (const [turn, { behaviour, isStreaming, isAskedAgain }] of all.entries()) {
            if (history.at(-1)?.role !== "user") history.push({ role: "user", content: `question ${turn}` });
            server.script(behaviour);
            server.always(reply(answer));
            const said = await ask(model, history, isStreaming);
            const line = (await lineOf(session)).map((words) => words.replace(/\(let me.*\) \| /, ""));
            expect(line.slice(0, history.length)).toEqual(inShort(history));
            if (said) {
              history.push(...said);
              answers++;
              expect(line).toEqual(inShort(history));
            } else if (!isAskedAgain) history.pop();
            expect(await session.drafts()).toEqual([]);
          }
          const log = await logOf(session);
          const whole = log.filter(
            (entry) =>
              entry.kind === "message" && entry.message.role === "assistant" && !entry.message.interrupted,
          );
          expect(whole).toHaveLength(answers);
          await session.close();
        }),
        { numRuns: proofRounds(25) },
      );
    },
  );
});

/** The messages of a complete reply; undefined if there was none. */
async function ask(
  model: Parameters<typeof generateText>[0]["model"],
  messages: ModelMessage[],
  isStreaming: boolean,
) {
  try {
    if (!isStreaming) return (await generateText({ model, messages, maxRetries: 0 })).responseMessages;
    const result = streamText({ model, messages, maxRetries: 0, onError: () => undefined });
    let isWhole = false;
    for await (const part of result.stream) {
      if (part.type === "error") isWhole = false;
      if (part.type === "finish") isWhole = part.finishReason === "stop";
    }
    return isWhole ? await result.responseMessages : undefined;
  } catch {
    return undefined;
  }
}

function inShort(messages: readonly ModelMessage[]): readonly string[] {
  return messages.map(({ role, content }) => {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return `${role}: ${parts.flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : [])).join(" | ")}`;
  });
}
