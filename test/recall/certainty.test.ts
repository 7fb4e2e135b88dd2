import { expect, test } from "vitest";
import { testMemory } from "./test-memory.ts";

async function tell(turns: readonly (readonly [speaker: string, text: string])[]) {
  const { memory, say } = await testMemory();
  for (const [speaker, text] of turns) await say("talk", { role: "user", text, meta: { speaker } });
  return memory;
}

const FILLER = Array.from({ length: 40 }, (_, number): readonly [string, string] => [
  "Ben",
  `Note ${number} about the weather and the train number ${number}.`,
]);

test("the certainty of a recall stays below 1 even if the question was said word for word", async () => {
  const { memory, say } = await testMemory();
  await say("a", "The staging server listens on port 7443 behind the proxy.");
  const { certainty, isSure } = await memory.recall(
    "The staging server listens on port 7443 behind the proxy.",
  );
  expect(isSure).toBe(true);
  expect(certainty).toBeLessThanOrEqual(0.95);
});

test("a recall is less certain if no hit holds the rarest word of the question", async () => {
  const { memory, say } = await testMemory();
  for (const [, text] of FILLER) await say("b", text);
  await say("a", "My sister gave me a silver necklace for my birthday.");
  const known = await memory.recall("Who gave me a silver necklace for my birthday?");
  const unknown = await memory.recall("Who gave me a silver telescope for my birthday?");
  expect(unknown.certainty).toBeLessThan(known.certainty);
});

test("a recall is less certain if the fact is known only of another person", async () => {
  const memory = await tell([
    ...FILLER,
    ["Ana", "I adopted a grey kitten from the shelter in Lisbon."],
    ["Ben", "How nice, my week was only work."],
  ]);
  const right = await memory.recall("Did Ana adopt a grey kitten from the shelter in Lisbon?");
  const wrong = await memory.recall("Did Ben adopt a grey kitten from the shelter in Lisbon?");
  expect(wrong.certainty).toBeLessThan(right.certainty - 0.2);
});

test("the number of requested hits does not change the certainty", async () => {
  const { memory, say } = await testMemory();
  for (const [, text] of FILLER) await say("b", text);
  await say("a", "My sister gave me a silver necklace for my birthday.");
  await say("a", "My brother gave me a silver ring for my wedding.");
  const question = "Who gave me a silver necklace for my birthday?";
  const [one, many] = [await memory.recall(question, { k: 1 }), await memory.recall(question, { k: 30 })];
  expect(one.hits).toHaveLength(1);
  expect(one.certainty).toBeCloseTo(many.certainty, 6);
});

test("a question about words finds the spoken sentence rather than the same thought", async () => {
  const { memory, say } = await testMemory();
  const thought =
    "Maybe session tokens should live in the cookie; session tokens, cookie, cookie, session tokens.";
  const text = "We decided to keep session tokens in the cookie, because the header was lost at the proxy.";
  await say("a", {
    role: "assistant",
    parts: [
      { type: "reasoning", text: thought },
      { type: "text", text },
    ],
  });
  const { hits } = await memory.recall("When did we decide where session tokens are kept, the cookie?");
  expect(hits[0]?.text).toBe(text);
});
