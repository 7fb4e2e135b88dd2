import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { proofTest } from "../../../support/proof.ts";
import { HAPPENINGS, type Happening, KINDS, type Kind } from "./happenings.ts";
import { Life, type LifeOptions } from "./life.ts";

/** Small enough that a few files fill it. */
const WINDOW = 20_000;
/** Lists of each kind; a variable sets fewer while one is looked into. */
const ROUNDS = Number(process.env.LONGHAUL_LIVES ?? 12);
/** Kinds after which a request still begins otherwise without an edit: rounds that the gateway answers leave again. */
const BREAKING: readonly Kind[] = ["recall"];
const HOLDING = KINDS.filter((kind) => !BREAKING.includes(kind));
/** Ends the search for the shortest list, long before the limit of a test. */
const LIMIT_MS = 300_000;
/** A conversation that has been edited once by its end. */
const LONG: Happening = { kind: "work", number: 69 };

/** Lives through happenings after a long stretch of work, and reports where it ended. */
async function live(happenings: readonly Happening[], options: Partial<LifeOptions> = {}) {
  const life = await Life.begin({ window: WINDOW, ...options });
  const past: string[] = [];
  try {
    for (const { kind, number } of [LONG, LONG, ...happenings]) {
      past.push(`${kind} ${number}`);
      await HAPPENINGS[kind](life, number);
    }
    return life.account;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nafter ${past.join(", ")}`, {
      cause: error,
    });
  } finally {
    await life.end();
  }
}

/** Lists of a kind among work, or of all kinds. */
function lists(kinds: readonly Kind[]): fc.Arbitrary<readonly Happening[]> {
  const number = fc.nat({ max: 99 });
  const one = fc.oneof(
    fc.record({ kind: fc.constant<Kind>("work"), number }),
    fc.record({ kind: fc.constantFrom(...kinds), number }),
  );
  return fc.array(one, { minLength: 1, maxLength: 10, size: "max" });
}

/** Runs lists of happenings; a failure names its seed and the shortest list that fails. */
async function prove(kinds: readonly Kind[], rounds: number, options: Partial<LifeOptions> = {}) {
  await fc.assert(
    fc.asyncProperty(lists(kinds), async (happenings) => {
      await live(happenings, options);
    }),
    { numRuns: rounds, interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: false },
  );
}

describe("a client with thinking, before a provider that binds it to its conversation", () => {
  test("a conversation that is never edited keeps all of its thinking, and each request extends the last", async () => {
    const life = await Life.begin({ window: 1_000_000 });
    for (let step = 0; step < 20; step++) await life.step(2_000);
    expect(life.account).toMatchObject({ requests: 20, seams: 0, kept: life.account.sent });
    await life.end();
  });

  test("no request is refused after an edit, a restart, a rewind and an undo", async () => {
    await live([
      { kind: "restart", number: 0 },
      { kind: "work", number: 3 },
      { kind: "rewind", number: 1 },
      { kind: "undo", number: 0 },
      { kind: "work", number: 3 },
    ]);
  });

  proofTest.each(HOLDING)("no request is refused in random conversations with %s", async (kind) => {
    await prove([kind], ROUNDS);
  });

  for (const kind of BREAKING)
    proofTest.fails(`no request is refused in random conversations with ${kind}`, async () => {
      await prove([kind], 1);
    });

  proofTest("no request is refused in random conversations whose gateway is killed", async () => {
    await prove(["restart", "undo"], Math.ceil(ROUNDS / 2), { isServed: true });
  });

  proofTest("no request is refused in random conversations of all kinds", async () => {
    await prove(HOLDING, 5 * ROUNDS);
  });
});
