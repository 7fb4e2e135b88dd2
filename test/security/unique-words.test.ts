import { createHash } from "node:crypto";
import { describe, expect } from "vitest";
import { testKernel } from "../support/kernel.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

const hex = (seed: string) => createHash("sha512").update(seed).digest("hex");

/** Unique identifiers that people and programs search for. */
const FORMS: readonly ((seed: string) => string)[] = [
  (seed) => hex(seed).slice(0, 7),
  (seed) => hex(seed).slice(0, 40),
  (seed) => hex(seed),
  (seed) => `req_${hex(seed).slice(0, 16)}`,
  (seed) => `unique${seed.replaceAll(" ", "x")}word`,
];

describe("a unique word", () => {
  sizedTest(
    "a unique word finds its entry in a log of similar words, both without other words and inside a question",
    async () => {
      const kernel = await testKernel();
      const said: { entry: string; word: string }[] = [];
      for (let n = 0; n < proofRounds(12, 2); n++) {
        const session = await kernel.session(`s${n}`);
        for (let m = 0; m < 40; m++) {
          const word = (FORMS[m % FORMS.length] as (seed: string) => string)(`${n} ${m}`);
          const noise = Array.from({ length: 3 + ((n * 7 + m * 13) % 60) }, (_, at) => {
            const digest = hex(`noise ${n} ${m} ${at}`);
            return at % 3 === 0 ? "commit" : digest.slice(0, 6 + (at % 9));
          });
          noise.splice((n + m) % noise.length, 0, word);
          const { id } = await session.append({ role: m % 2 ? "assistant" : "user", text: noise.join(" ") });
          said.push({ entry: id, word });
        }
      }
      const places = new Map<string, number>();
      for (const { entry, word } of said.filter((_, index) => index % 6 === 0)) {
        const alone = await kernel.memory.recall(word, { k: 3 });
        const asked = await kernel.memory.recall(`what did we say about the commit ${word} and its build?`, {
          k: 5,
        });
        expect(alone.hits[0], word).toMatchObject({ entry });
        const place = asked.hits.findIndex((hit) => hit.kind === "session" && hit.entry === entry);
        expect(place, word).toBeGreaterThanOrEqual(0);
        places.set(word, place);
      }
      expect(places.size).toBe(Math.ceil(said.length / 6));
    },
    120_000,
  );
});
