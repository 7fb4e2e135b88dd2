import fc from "fast-check";
import { describe, expect } from "vitest";
import { startGateway, type TestGateway } from "../../../support/gateway.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { ChainedClient, startKeepingUpstream, wordsIn } from "./chained.ts";

/**
 * A step with chains over two gateways on one store: concurrent messages after earlier replies,
 * or an event on one side.
 */
type Step =
  | { readonly type: "say"; readonly behind: readonly number[]; readonly isWhole: boolean }
  | { readonly type: "forget" }
  | { readonly type: "restart" };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant("say" as const),
        behind: fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
        isWhole: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: "forget" } as const) },
    { weight: 1, arbitrary: fc.constant({ type: "restart" } as const) },
  ),
  { minLength: 4, maxLength: 14 },
);

/** Both gateways rewrite requests from the log at the same time, and move the line of the same session for it. */
const crossing: readonly Step[] = [
  say(1),
  say(2, 25, 16),
  say(25, 1, 7),
  say(13),
  say(21, 9),
  { type: "restart" },
  say(6, 3, 26, 15),
  say(3, 24),
  say(22, 17, 14),
  { type: "forget" },
  say(7, 13),
  say(8, 29, 27, 19),
  say(1, 27),
];

function say(...behind: readonly number[]): Step {
  return { type: "say", behind, isWhole: true };
}

interface Said {
  readonly id: string;
  /** All messages up to this reply. */
  readonly words: readonly string[];
}

describe("random chains of responses", () => {
  sizedTest(
    "every request of a random chain is answered from the messages of that chain only",
    async () => {
      const upstream = await startKeepingUpstream({
        reply: (_, context) => ({ text: `To ${wordsIn(context).at(-1)}` }),
        takesMs: 2,
      });
      let gateways: TestGateway[] = [];
      const start = async (path?: string) => {
        const options = {
          upstream: upstream.url,
          ...(path !== undefined && { path }),
        };
        const first = await startGateway(options);
        gateways = [first, await startGateway({ ...options, path: first.path })];
      };
      let count = 0;
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          await start();
          const said: Said[] = [];
          for (const step of all) {
            if (step.type === "forget") upstream.forget();
            else if (step.type === "restart") {
              const [first] = gateways;
              await Promise.all(gateways.map((gateway) => gateway.close()));
              await start(first?.path);
            } else {
              const before = [...said];
              const ways = [...new Set(step.behind)].map((at) => before[at % Math.max(1, before.length)]);
              const answers = await Promise.all(
                ways.map(async (behind, at): Promise<Said> => {
                  const words = `user|Words ${count++}`;
                  const client = new ChainedClient(gateways[at % 2] as TestGateway, behind?.id);
                  client.fields.stream = !step.isWhole;
                  const text = await client.say([{ role: "user", content: words.slice(5) }]);
                  const known = upstream.contexts.findLast((context) => wordsIn(context).at(-1) === words);
                  expect(wordsIn(known ?? [])).toEqual([...(behind?.words ?? []), words]);
                  expect(text).toBe(`To ${words}`);
                  return {
                    id: client.previous as string,
                    words: [...(behind?.words ?? []), words, `assistant|To ${words}`],
                  };
                }),
              );
              said.push(...answers);
            }
          }
          await Promise.all(gateways.map((gateway) => gateway.close()));
        }),
        { numRuns: proofRounds(30, 4), examples: [[crossing], [crossing], [crossing]] },
      );
    },
    120_000,
  );
});
