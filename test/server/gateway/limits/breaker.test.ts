import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyCompaction,
  applyMainRequest,
  applyOverflow,
  applyReply,
  applySuccess,
  findLoopFault,
  type LoopLimits,
  type LoopState,
  NO_LOOP,
} from "../../../../src/server/gateway/limits/breaker.ts";
import { LoopStates } from "../../../../src/server/gateway/limits/loop-states.ts";
import { detectOverflow } from "../../../../src/window/limits/overflow.ts";
import { detectPoison } from "../../../../src/window/limits/poison.ts";

/** A request with an immediate reply. */
const at = (key: string, now: number) => ({ key, requestedAt: now, repliedAt: now });

const LIMITS: LoopLimits = { requests: 3, compactions: 2, overflows: 3, withinMs: 60_000, coolMs: 300_000 };

describe("a repeated request", () => {
  test("a repeated request is stopped after too many complete answers, and the error says what to do", () => {
    let state = NO_LOOP;
    for (const now of [0, 1_000, 2_000]) state = applyReply(state, at("a", now), LIMITS);
    expect(findLoopFault(state, 2_000)).toBeUndefined();
    state = applyReply(state, at("a", 3_000), LIMITS);
    const fault = findLoopFault(state, 3_000);
    expect(fault).toMatchObject({ status: 400, kind: "stopped" });
    expect(fault?.message).toContain("the same request was answered 4 times since 1970-01-01 00:00:00 UTC");
    expect(fault?.message).toContain("requests pass again from 1970-01-01 00:05:03 UTC on");
    expect(fault?.message).toContain("breaker.requests");
    expect(findLoopFault(state, 302_999)).toBeDefined();
    expect(findLoopFault(state, 303_000)).toBeUndefined();
  });

  test("a repeated request is not stopped if it comes slowly or if other words come", () => {
    let slow = NO_LOOP;
    for (let now = 0; now < 10; now++) slow = applyReply(slow, at("a", now * 30_000), LIMITS);
    expect(findLoopFault(slow, 270_000)).toBeUndefined();
    let other = NO_LOOP;
    for (let now = 0; now < 50; now++) other = applyReply(other, at(`request ${now}`, now), LIMITS);
    expect(findLoopFault(other, 50)).toBeUndefined();
  });

  test("a request repeated before its last answer arrives does not count as a loop", () => {
    let state = NO_LOOP;
    for (let now = 0; now < 50; now++)
      state = applyReply(state, { key: "a", requestedAt: now - 2, repliedAt: now }, LIMITS);
    expect(findLoopFault(state, 50)).toBeUndefined();
  });

  test("a loop is found even if other requests come in between", () => {
    let state = NO_LOOP;
    for (let now = 0; now < 8; now++) state = applyReply(state, at(now % 2 === 0 ? "a" : "b", now), LIMITS);
    expect(findLoopFault(state, 8)).toBeDefined();
  });
});

describe("compactions", () => {
  test("compactions are stopped when the line does not grow in between", () => {
    let state = NO_LOOP;
    for (const now of [0, 1_000]) state = applyMainRequest(applyCompaction(state, 12, now, LIMITS), 4);
    expect(findLoopFault(state, 1_000)).toBeUndefined();
    state = applyCompaction(state, 6, 2_000, LIMITS);
    expect(findLoopFault(state, 3_000)?.message).toContain(
      "it asked 3 times for a summary and the conversation went no further since 1970-01-01 00:00:00 UTC",
    );
    expect(findLoopFault(state, 3_000)?.message).toContain("breaker.compactions");
  });

  test("compactions continue while the client makes new calls, and stop when it makes the same ones again", () => {
    let state = NO_LOOP;
    const compact = (now: number, step: string) => {
      state = applyMainRequest(applyCompaction(state, 4, now, LIMITS, step), 2);
    };
    for (let now = 0; now < 40; now++) compact(now * 1_000, `read file ${now}`);
    expect(findLoopFault(state, 40_000)).toBeUndefined();
    compact(40_000, "read file 39");
    expect(findLoopFault(state, 40_000)).toBeUndefined();
    compact(41_000, "read file 38");
    expect(findLoopFault(state, 41_000)?.message).toContain("went no further");
  });

  test("compactions continue while new messages arrive in between", () => {
    let state = NO_LOOP;
    for (let now = 0; now < 20; now++) {
      state = applyCompaction(state, 100, now * 1_000, LIMITS);
      for (const messages of [3, 30, 99]) state = applyMainRequest(state, messages);
    }
    expect(findLoopFault(state, 20_000)).toBeUndefined();
  });
});

test("the error of a stopped client is mistaken neither for an overflow nor for a rejected block", () => {
  const stopped = (loop: "request" | "compaction"): LoopState => ({
    ...NO_LOOP,
    stopped: { loop, count: 9, since: 0, until: 10 },
  });
  for (const loop of ["request", "compaction"] as const) {
    const { status = 0, message = "" } = findLoopFault(stopped(loop), 5) ?? {};
    const bodies = [
      { type: "error", error: { type: "invalid_request_error", message } },
      { error: { message, type: "invalid_request_error", code: null } },
    ];
    for (const body of bodies) {
      expect(detectOverflow({ status, body })).toBeUndefined();
      expect(detectPoison({ status, body })).toBeUndefined();
    }
    expect(message).not.toMatch(
      /context|token|too long|too large|exceed|maximum|limit|window|rate|overload|retry|try again/i,
    );
  }
});

describe("loops of many clients", () => {
  const clock = { now: 0 };
  const states = (most = 100) =>
    new LoopStates({ limits: () => LIMITS, now: () => clock.now, maxStates: () => most });

  test("the loops of several clients are told apart, and forgotten after their time", () => {
    clock.now = 0;
    const all = states();
    for (let count = 0; count < 4; count++) all.recordReply("one", at("a", clock.now));
    for (let count = 0; count < 3; count++) all.recordReply("other", at("a", clock.now));
    expect(all.findFault("one")).toBeDefined();
    expect(all.findFault("other")).toBeUndefined();
    clock.now = 300_000;
    expect(all.findFault("one")).toBeUndefined();
    all.recordReply("one", at("a", clock.now));
    expect(all.findFault("one")).toBeUndefined();
  });

  test("a stop does not last longer because the client goes on asking", () => {
    clock.now = 0;
    const all = states();
    for (let count = 0; count < 4; count++) all.recordCompaction("family", 5, undefined);
    clock.now = 200_000;
    expect(all.recordCompaction("family", 5, undefined)?.message).toContain("00:05:00 UTC on");
    clock.now = 300_000;
    expect(all.recordCompaction("family", 5, undefined)).toBeUndefined();
  });

  test("an expired loop leaves nothing behind, and a stop stays until it expires", () => {
    clock.now = 0;
    const all = states();
    for (let count = 0; count < 4; count++) all.recordReply("stopped", at("a", clock.now));
    all.recordReply("quiet", at("a", clock.now));
    clock.now = LIMITS.withinMs - 1;
    all.recordReply("other", at("b", clock.now));
    expect(all.size).toBe(3);
    expect(all.findFault("stopped")).toBeDefined();
    clock.now = 3 * (LIMITS.withinMs + LIMITS.coolMs);
    all.recordReply("newest", at("c", clock.now));
    expect(all.size).toBe(1);
  });

  test("loop states of many clients stay within their limit", () => {
    const all = states(10);
    for (let thread = 0; thread < 1_000; thread++) all.recordReply(`thread ${thread}`, at("a", thread));
    expect(all.size).toBe(10);
  });
});

test("the state of one thread is bounded, and no client is stopped below the limit", () => {
  const step = fc.record({
    type: fc.constantFrom("answer", "main", "compaction"),
    key: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
    messages: fc.nat(40),
    waitMs: fc.nat(20_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let state = NO_LOOP;
      let now = 0;
      const answers: { key: string; at: number }[] = [];
      const compactions: number[] = [];
      for (const { type, key, messages, waitMs } of steps) {
        now += waitMs;
        if (type === "answer") {
          answers.push({ key, at: now });
          state = applyReply(state, at(key, now), LIMITS);
        } else if (type === "main") state = applyMainRequest(state, messages);
        else {
          compactions.push(now);
          state = applyCompaction(state, messages, now, LIMITS);
        }
        expect(state.answered.length).toBeLessThanOrEqual(8);
        expect(state.answered.every((one) => one.at.length <= LIMITS.requests + 1)).toBe(true);
        expect(state.compactions.length).toBeLessThanOrEqual(LIMITS.compactions + 1);
        if (state.stopped?.until !== now + LIMITS.coolMs) continue;
        const isRecent = (then: number) => now - then < LIMITS.withinMs;
        const counts = Object.values(
          Object.groupBy(
            answers.filter((one) => isRecent(one.at)),
            (one) => one.key,
          ),
        );
        const most = Math.max(0, ...counts.map((some) => some?.length ?? 0));
        const isOften = most > LIMITS.requests || compactions.filter(isRecent).length > LIMITS.compactions;
        expect(isOften).toBe(true);
      }
    }),
  );
});

describe("repeated overflow errors", () => {
  test("overflows in a row stop the client until a turn is answered or time has passed", () => {
    let state = NO_LOOP;
    for (const now of [0, 1_000]) state = applyOverflow(state, now, LIMITS);
    expect(findLoopFault(state, 1_000)).toBeUndefined();
    expect(findLoopFault(applyOverflow(applySuccess(state), 2_000, LIMITS), 2_000)).toBeUndefined();
    expect(findLoopFault(applyOverflow(state, 100_000, LIMITS), 100_000)).toBeUndefined();
    const fault = findLoopFault(applyOverflow(state, 2_000, LIMITS), 2_000);
    expect(fault).toMatchObject({ status: 400, kind: "stopped" });
    expect(fault?.message).toContain("refused 3 requests in a row");
    expect(fault?.message).toContain("breaker.overflows");
    expect(detectOverflow({ status: 400, message: fault?.message ?? "" })).toBeUndefined();
  });
});
