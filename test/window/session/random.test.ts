import fc from "fast-check";
import { expect } from "vitest";
import { POLICIES, tokensOfMessage } from "../../../src/kernel/faces/window.ts";
import { type FittedWindow, type Message, openKernel, type Session } from "../../../src/kernel/index.ts";
import { listAnsweredCallIds, listCallIds } from "../../../src/model/tool-calls.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { step } from "./history.ts";

const MODEL = { model: "claude-sonnet-4-5", models: { "claude-*": { window: 8_000 } }, system: 300 };
const POLICY_NAMES = POLICIES.map(({ name }) => name).filter((name) => name !== "none");

type Act =
  | { readonly type: "ask"; readonly words: number }
  | { readonly type: "work"; readonly lines: number; readonly steps: number }
  | { readonly type: "both" }
  | { readonly type: "fit" | "reopen" | "undo" | "report" | "wait" }
  | { readonly type: "rewind" | "pin" | "remove"; readonly share: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("ask" as const), words: fc.nat(200) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant("work" as const),
      lines: fc.nat(60),
      steps: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Act>({ type: "both" }) },
  { weight: 8, arbitrary: fc.constant<Act>({ type: "fit" }) },
  { weight: 3, arbitrary: fc.constantFrom<Act>({ type: "reopen" }, { type: "report" }, { type: "wait" }) },
  { weight: 2, arbitrary: fc.constant<Act>({ type: "undo" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom("rewind" as const, "pin" as const, "remove" as const),
      share,
    }),
  },
);

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);

sizedTest(
  "after any appends, edits, rewinds and pins, windows fit and are equal in all handles, and every edit can be undone",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...POLICY_NAMES),
        fc.array(acts, { minLength: 8, maxLength: 24 }),
        async (policy, course) => {
          let now = 1_000_000;
          const kernel = await openKernel({ path: ":memory:", clock: { now: () => now } });
          try {
            const session = await kernel.session("random");
            await session.append({ role: "user", text: "The first request of all." });
            const options = { ...MODEL, policy, oversize: "clip" } as const;
            let window = session.window(options);
            for (const [number, act] of course.entries()) {
              now += 1_000;
              if (act.type === "fit") await fitAndCheck(session, options, window);
              else if (act.type === "reopen") window = session.window(options);
              else if (act.type === "wait") now += 600_000;
              else if (act.type === "report")
                await window.report({ inputTokens: 5_000, cacheReadTokens: 900 });
              else await carryOut(session, act, number);
            }
            await fitAndCheck(session, options, window);
          } finally {
            await kernel.close();
          }
        },
      ),
      { numRuns: proofRounds(50) },
    );
  },
  240_000,
);

const FACTS = ["heron", "bassoon", "quokka", "uppsala", "vault"];

type Life =
  | { readonly type: "tell" | "question"; readonly fact: number; readonly words: number }
  | { readonly type: "work"; readonly lines: number; readonly steps: number }
  | { readonly type: "undo" | "wait" | "fork" }
  | { readonly type: "rewind" | "pin" | "redact"; readonly share: number };

const lives: fc.Arbitrary<Life> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constantFrom("tell" as const, "question" as const),
      fact: fc.nat(FACTS.length - 1),
      words: fc.nat(400),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("work" as const),
      lines: fc.nat(60),
      steps: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Life>({ type: "undo" }, { type: "wait" }, { type: "fork" }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("rewind" as const, "pin" as const, "redact" as const),
      share,
    }),
  },
);

sizedTest(
  "one long-lived handle and a new handle for every call send the same bytes and write the same log",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("longhaul", "longhaul", "longhaul", ...POLICY_NAMES),
        fc.array(lives, { minLength: 25, maxLength: 60 }),
        async (policy, course) => {
          const living = await live(policy, course, "one handle");
          const fresh = await live(policy, course, "a new handle for every call");
          for (const [at, request] of living.entries()) expect(fresh[at]).toBe(request);
        },
      ),
      { numRuns: proofRounds(12, 2) },
    );
  },
  240_000,
);

/** Lives through a course, with a call after each act, and returns the requests followed by the kinds of entries. */
async function live(policy: string, course: readonly Life[], handles: string): Promise<readonly string[]> {
  let now = 1_000_000;
  const kernel = await openKernel({ path: ":memory:", clock: { now: () => now } });
  try {
    const options = { ...MODEL, policy, oversize: "clip" } as const;
    const requests: string[] = [];
    let session = await kernel.session("life");
    let window = session.window(options);
    await session.append({ role: "user", text: "The first request of all." });
    for (const [number, act] of course.entries()) {
      now += 1_000;
      if (act.type === "wait") now += 600_000;
      else if (act.type === "fork") {
        session = await session.fork({ id: `fork-${number}` });
        window = session.window(options);
      } else if (act.type === "tell" || act.type === "question") {
        const fact = FACTS[act.fact];
        const text =
          act.type === "question"
            ? `What was the number of the ${fact} again?`
            : `The number of the ${fact} is ${number}. ${"other words ".repeat(act.words)}`;
        await session.append({ role: "user", text });
      } else if (act.type === "redact") {
        const { seq: head } = await session.head();
        const at = Math.max(1, Math.ceil(act.share * head));
        const entry = await session.entry(at);
        if (entry?.kind === "message" && entry.session === session.id) await session.redact(at);
      } else await carryOut(session, act as Act, number);
      if (handles !== "one handle") window = session.window(options);
      const fitted = await window.fit();
      requests.push(shown(fitted));
      expectPairs(fitted.messages);
      const estimated = fitted.messages.reduce((sum, message) => sum + tokensOfMessage(message), 300);
      await window.report({ inputTokens: 50, cacheReadTokens: Math.round(estimated * 1.1) });
      await session.append({ role: "assistant", text: `Reply ${number}.` });
    }
    const { seq: head } = await session.head();
    for (let seq = 1; seq <= head; seq++) requests.push(`${seq} ${(await session.entry(seq))?.kind}`);
    return requests;
  } finally {
    await kernel.close();
  }
}

async function carryOut(session: Session, act: Act, number: number): Promise<void> {
  const { seq: head } = await session.head();
  const at = "share" in act ? Math.max(1, Math.ceil(act.share * head)) : 0;
  if (act.type === "ask") {
    await session.append({ role: "user", text: `Request ${number}. ${"more words ".repeat(act.words)}` });
  } else if (act.type === "work") {
    for (let one = 0; one < act.steps; one++) await session.appendAll(step(number * 100 + one, act.lines));
  } else if (act.type === "both") {
    const [first, second] = [step(number * 100 + 50, 5), step(number * 100 + 51, 5)];
    await session.appendAll([first[0], second[0], second[1], first[1]] as typeof first);
  } else if (act.type === "undo") {
    const [newest] = (await session.overlays.list()).filter(({ isHolding }) => isHolding);
    if (newest) await session.overlays.revert(newest.entry.seq);
  } else {
    const entry = await session.entry(at);
    if (entry?.kind !== "message") return;
    const doing =
      act.type === "pin" ? session.pin(at) : act.type === "rewind" ? session.rewind(at) : session.remove(at);
    await doing.catch((error) => expect(error.code).toBe("NOT_ON_LINE"));
  }
}

async function fitAndCheck(
  session: Session,
  options: Parameters<Session["window"]>[0],
  window: ReturnType<Session["window"]>,
): Promise<void> {
  const before = await session.window(options).look();
  const fitted = await window.fit();
  expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
  expectPairs(fitted.messages);
  const again = await window.fit();
  expect(again.plan).toBeUndefined();
  expect(again.page).toBeUndefined();
  expect(shown(again)).toBe(shown(fitted));
  const other = await session.window(options).look();
  expect(shown(other)).toBe(shown(fitted));
  const made = [fitted.page?.overlay, fitted.plan?.overlay].filter((seq) => seq !== undefined);
  if (made.length === 0) return;
  const reverts: number[] = [];
  for (const overlay of made) reverts.push((await session.overlays.revert(overlay)).seq);
  expect(shown(await session.window(options).look())).toBe(shown(before));
  for (const revert of reverts) await session.overlays.revert(revert);
  expect(shown(await window.look())).toBe(shown(fitted));
}

/** Checks that every result has its call before it, and every call answered in the log has its result. */
function expectPairs(messages: readonly Message[]): void {
  const called = new Set<string>();
  for (const message of messages) {
    for (const callId of listAnsweredCallIds(message)) expect(called.has(callId)).toBe(true);
    for (const callId of listCallIds(message)) called.add(callId);
  }
}
