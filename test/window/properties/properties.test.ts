import { describe, expect } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import {
  anthropicClearPolicy,
  clinePolicy,
  nonePolicy,
  openclawPolicy,
  rooPolicy,
} from "../../../src/window/policies/known-policies.ts";
import { longhaul } from "../../../src/window/policies/longhaul.ts";
import type { Policy } from "../../../src/window/policy.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { brokenRule, type Exemptions } from "./check-run.ts";
import { randomHistory } from "./random-history.ts";
import { HAS_RECORDINGS, HAS_TRANSCRIPTS, readRecordings, readTranscripts } from "./real-histories.ts";

const RANDOM_HISTORIES = proofRounds(1_500, 75);
const REAL_HISTORIES = proofRounds(125);
const SLICE = 24;

const POLICIES: readonly { readonly name: string; readonly policy: Policy; readonly exempt: Exemptions }[] = [
  { name: "longhaul", policy: longhaul(), exempt: { rebuilds: true } },
  { name: "none", policy: nonePolicy(), exempt: { limit: true } },
  { name: "cline", policy: clinePolicy(), exempt: {} },
  { name: "roo", policy: rooPolicy(), exempt: {} },
  {
    name: "roo that condenses",
    policy: rooPolicy({ condense: { threshold: 40, messages: 12 } }),
    exempt: {},
  },
  { name: "openclaw", policy: openclawPolicy({ messages: 12 }), exempt: {} },
  {
    name: "anthropic-clear",
    policy: anthropicClearPolicy({ trigger: { tokens: 500 }, keep: 1, clearInputs: true }),
    exempt: {},
  },
];

/** The first histories under which a policy breaks a rule, by seed. */
function broken(
  count: number,
  policy: Policy,
  exempt: Exemptions,
  historyOf: (random: Random, seed: number) => readonly Message[],
): readonly string[] {
  const found: string[] = [];
  for (let seed = 1; seed <= count && found.length < 5; seed++) {
    const random = new Random(seed);
    const messages = historyOf(random, seed);
    const rule = messages.length === 0 ? undefined : brokenRule(policy, messages, random, exempt);
    if (rule !== undefined) found.push(`seed ${seed}: ${rule}`);
  }
  return found;
}

function sliceOf(histories: readonly (readonly Message[])[], random: Random): readonly Message[] {
  const history = random.pick(histories);
  const from = random.chance(0.3) ? 0 : random.below(history.length - 2);
  return history.slice(from, from + 3 + random.below(SLICE));
}

describe.each(POLICIES)("$name", ({ policy, exempt }) => {
  sizedTest(`a policy keeps every rule in ${RANDOM_HISTORIES} random histories`, () => {
    expect(broken(RANDOM_HISTORIES, policy, exempt, randomHistory)).toEqual([]);
  });
});

describe("real histories", () => {
  const brokenIn = (histories: readonly (readonly Message[])[]) =>
    POLICIES.flatMap(({ name, policy, exempt }) =>
      broken(REAL_HISTORIES, policy, exempt, (random) => sliceOf(histories, random)).map(
        (rule) => `${name}, ${rule}`,
      ),
    );

  sizedTest.skipIf(!HAS_TRANSCRIPTS)(
    `real histories keep every rule in ${REAL_HISTORIES} slices of transcripts under each policy`,
    async () => {
      const histories = await readTranscripts();
      expect(histories.length).toBeGreaterThan(5);
      expect(brokenIn(histories)).toEqual([]);
    },
  );

  sizedTest.skipIf(!HAS_RECORDINGS)(
    `real histories keep every rule in ${REAL_HISTORIES} slices of requests of real clients under each policy`,
    async () => {
      const histories = await readRecordings();
      expect(histories.length).toBeGreaterThan(5);
      expect(brokenIn(histories)).toEqual([]);
    },
  );
});
