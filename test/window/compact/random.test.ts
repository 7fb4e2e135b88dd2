import fc from "fast-check";
import { expect } from "vitest";
import { type FittedWindow, type Message, openKernel, type Session } from "../../../src/kernel/index.ts";
import { listAnsweredCallIds, listCallIds } from "../../../src/model/tool-calls.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { step } from "../session/history.ts";

const MODEL = {
  model: "claude-sonnet-4-5",
  models: { "claude-*": { window: 8_000 } },
  system: 300,
  oversize: "clip",
} as const;

type Act =
  | { readonly type: "work"; readonly lines: number; readonly steps: number }
  | { readonly type: "ask" | "fit" | "compact" | "reopen" | "fork" | "undo" | "since" }
  | { readonly type: "rewind" | "pin" | "hide"; readonly share: number }
  | { readonly type: "revert"; readonly share: number }
  | { readonly type: "choose"; readonly share: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant("work" as const),
      lines: fc.nat(60),
      steps: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 6, arbitrary: fc.constantFrom<Act>({ type: "fit" }, { type: "compact" }) },
  { weight: 3, arbitrary: fc.constantFrom<Act>({ type: "ask" }, { type: "reopen" }, { type: "undo" }) },
  { weight: 1, arbitrary: fc.constantFrom<Act>({ type: "fork" }, { type: "since" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "rewind" as const,
        "pin" as const,
        "hide" as const,
        "revert" as const,
        "choose" as const,
      ),
      share,
    }),
  },
);

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);
/** Uses a window that is large enough to show everything. */
const looked = async (session: Session) => shown(await session.window({ model: MODEL.model }).look());

sizedTest(
  "a session compacted, cut, reverted, rewound and forked in any order has whole windows that fit, and every edit can be undone exactly",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { minLength: 8, maxLength: 24 }), async (course) => {
        let now = 1_000_000;
        const kernel = await openKernel({ path: ":memory:", clock: { now: () => now } });
        try {
          let session = await kernel.session("random");
          await session.append({ role: "user", text: "The first request of all." });
          let window = session.window(MODEL);
          for (const [number, act] of course.entries()) {
            now += 1_000;
            if (act.type === "fork") session = await session.fork();
            if (act.type === "fork" || act.type === "reopen") window = session.window(MODEL);
            else if (act.type === "fit") await fitAndCheck(session, window);
            else if (act.type === "compact") await compactAndCheck(session);
            else if (act.type === "since") await session.overlays.revertTo(now - 5_000);
            else await carryOut(session, act, number);
          }
          await fitAndCheck(session, window);
        } finally {
          await kernel.close();
        }
      }),
      { numRuns: proofRounds(30) },
    );
  },
  240_000,
);

async function carryOut(session: Session, act: Act, number: number): Promise<void> {
  const { seq: head } = await session.head();
  const at = "share" in act ? Math.max(1, Math.ceil(act.share * head)) : 0;
  if (act.type === "ask") await session.append({ role: "user", text: `Request ${number}.` });
  else if (act.type === "work") {
    for (let one = 0; one < act.steps; one++) await session.appendAll(step(number * 100 + one, act.lines));
  } else if (act.type === "undo" || act.type === "revert") {
    const overlays = (await session.overlays.list()).filter(({ isHolding }) => isHolding);
    const which = "share" in act ? Math.floor(act.share * (overlays.length - 1)) : 0;
    const entry = overlays[which]?.entry;
    if (entry) await session.overlays.revert(entry.seq, { session: entry.session });
  } else if (act.type === "choose") {
    const steps = await session.lines();
    const chosen = steps[Math.floor(act.share * (steps.length - 1))];
    if (chosen) await session.choose(chosen.seq);
  } else {
    const entry = await session.entry(at);
    if (entry?.kind !== "message" || (at === 1 && act.type === "hide")) return;
    const doing =
      act.type === "pin"
        ? session.pin(at)
        : act.type === "rewind"
          ? session.rewind(at)
          : session.overlays.add(
              { type: "hide", ranges: [{ session: entry.session, from: at, to: at }] },
              "x",
            );
    await doing.catch((error) => expect(error.code).toBe("NOT_ON_LINE"));
  }
}

async function compactAndCheck(session: Session): Promise<void> {
  const before = await looked(session);
  const dry = await session.compact({ dryRun: true });
  const compacted = await session.compact();
  expect(compacted?.summary).toBe(dry?.summary);
  if (!compacted) return;
  const after = await session.window({ model: MODEL.model }).look();
  expect(shown(after)).toBe(JSON.stringify(compacted.after.map(({ message }) => message)));
  expect(JSON.stringify(compacted.before.map(({ message }) => message))).toBe(before);
  expect(shown(after)).toContain(JSON.stringify(compacted.summary).slice(1, -1));
  expect(shown(after)).toContain("The first request of all.");
  await session.overlays.revert(compacted.overlay as number);
  expect(await looked(session)).toBe(before);
  const [revert] = await session.overlays.list(1);
  await session.overlays.revert(revert?.entry.seq as number);
  expect(await looked(session)).toBe(shown(after));
}

async function fitAndCheck(session: Session, window: ReturnType<Session["window"]>): Promise<void> {
  const before = await looked(session);
  const fitted = await window.fit();
  expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
  if (fitted.plan) expectPairs(fitted.messages);
  expect(shown(await window.fit())).toBe(shown(fitted));
  expect(await looked(session)).toBe(shown(fitted));
  if (fitted.plan?.overlay === undefined) return;
  await session.overlays.revert(fitted.plan.overlay);
  expect(await looked(session)).toBe(before);
  const [revert] = await session.overlays.list(1);
  await session.overlays.revert(revert?.entry.seq as number);
  expect(shown(await window.look())).toBe(shown(fitted));
}

/** Checks that every result has its call before it. */
function expectPairs(messages: readonly Message[]): void {
  const called = new Set<string>();
  for (const message of messages) {
    for (const callId of listAnsweredCallIds(message)) expect(called.has(callId)).toBe(true);
    for (const callId of listCallIds(message)) called.add(callId);
  }
}
