import * as fc from "fast-check";

/** Microtask turns before the next operation; undefined waits until everything is quiet. */
type Gap = { readonly gap?: number };

/** Parts around the tasks of a process that can fail. */
export type Troubled = "prepare" | "settle" | "check" | "send" | "close";

/** One operation of a schedule; numbers select among the existing objects. */
export type Operation = Gap &
  (
    | {
        readonly type: "start";
        readonly host: number;
        readonly agent: number;
        readonly isForeground: boolean;
        readonly isIsolated: boolean;
        readonly bound: "none" | "deadline" | "budget";
      }
    | { readonly type: "child"; readonly task: number }
    | { readonly type: "say" | "step" | "finish" | "throw"; readonly task: number }
    /** Deletes the session of a task, and those of its children. */
    | { readonly type: "delete"; readonly task: number }
    | { readonly type: "detach" | "kill" | "wait"; readonly host: number; readonly task: number }
    | { readonly type: "crash"; readonly host: number; readonly calls: number; readonly isBefore: boolean }
    | {
        readonly type: "fault";
        readonly host: number;
        readonly calls: number;
        readonly isPassing: boolean;
        /** The failed operation was executed anyway. */
        readonly isDone: boolean;
      }
    /** The next call of a part around tasks fails, or hangs until it is aborted. */
    | { readonly type: "trouble"; readonly what: Troubled; readonly isHanging: boolean }
    | { readonly type: "sleep" | "wake" | "close"; readonly host: number }
    /** A process sleeps so long that others take its tasks over, and writes when it wakes. */
    | { readonly type: "oversleep"; readonly host: number; readonly task: number }
    | { readonly type: "host" }
    | { readonly type: "advance"; readonly ms: number }
  );

const number = fc.nat(7);
const gap = fc.nat(25);

/** Half of the operations follow immediately, so that they overlap. */
const withGap = <T extends Record<string, fc.Arbitrary<unknown>>>(record: T) =>
  fc.oneof(fc.record(record), fc.record({ ...record, gap }));

/** Operations without death, sleep or lasting faults. */
const gentle = [
  {
    weight: 7,
    arbitrary: withGap({
      type: fc.constant("start"),
      host: number,
      agent: number,
      isForeground: fc.boolean(),
      isIsolated: fc.boolean(),
      bound: fc.constantFrom("none", "none", "none", "deadline", "budget"),
    }),
  },
  { weight: 3, arbitrary: withGap({ type: fc.constant("child"), task: number }) },
  { weight: 4, arbitrary: withGap({ type: fc.constantFrom("say", "say", "step", "finish"), task: number }) },
  {
    weight: 9,
    arbitrary: withGap({
      type: fc.constantFrom("detach", "detach", "kill", "kill", "wait"),
      host: number,
      task: number,
    }),
  },
  {
    weight: 1,
    arbitrary: withGap({
      type: fc.constant("fault"),
      host: number,
      calls: fc.integer({ min: 1, max: 3 }),
      isPassing: fc.constant(true),
      isDone: fc.constant(false),
    }),
  },
  {
    weight: 2,
    arbitrary: withGap({
      type: fc.constant("trouble"),
      what: fc.constantFrom("settle", "check", "send", "close"),
      isHanging: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: withGap({ type: fc.constant("host") }) },
  // Advancing by more than a lease during a call is a sleep.
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("advance"), ms: fc.constantFrom(100, 1_000) }),
  },
];

/** Operations that may lose a task. */
const harsh = [
  {
    weight: 1,
    arbitrary: withGap({ type: fc.constant("advance"), ms: fc.constantFrom(100, 1_000, 4_000) }),
  },
  { weight: 1, arbitrary: withGap({ type: fc.constant("throw"), task: number }) },
  { weight: 1, arbitrary: withGap({ type: fc.constant("delete"), task: number }) },
  {
    weight: 3,
    arbitrary: withGap({
      type: fc.constant("crash"),
      host: number,
      calls: fc.nat(6),
      isBefore: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: withGap({
      type: fc.constant("fault"),
      host: number,
      calls: fc.integer({ min: 1, max: 3 }),
      isPassing: fc.boolean(),
      isDone: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: withGap({
      type: fc.constant("trouble"),
      what: fc.constant("prepare"),
      isHanging: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: withGap({ type: fc.constantFrom("sleep", "wake", "close"), host: number }) },
  { weight: 2, arbitrary: withGap({ type: fc.constant("oversleep"), host: number, task: number }) },
];

const schedulesOf = (operations: fc.WeightedArbitrary<unknown>[]) =>
  fc.array(fc.oneof(...operations) as fc.Arbitrary<Operation>, { minLength: 2, maxLength: 16 });

/** Schedules: sequences of operations with their timing. */
export const schedules: fc.Arbitrary<readonly Operation[]> = fc.oneof(
  { weight: 1, arbitrary: schedulesOf(gentle) },
  { weight: 4, arbitrary: schedulesOf([...gentle, ...harsh]) },
);

/** Whether an operation lets tasks end as their agents decide: no death, no sleep, no lasting fault. */
export function isGentle(operation: Operation): boolean {
  const { type } = operation;
  if (type === "fault") return operation.isPassing && !operation.isDone;
  if (type === "advance") return operation.ms <= 1_000 && operation.gap === undefined;
  if (type === "trouble") return operation.what !== "prepare";
  return !["crash", "sleep", "oversleep", "close", "delete", "throw"].includes(type);
}
