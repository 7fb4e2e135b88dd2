import * as fc from "fast-check";

/** How many turns of the queue of promises pass before the next operation; undefined: until all is quiet. */
type Gap = { readonly gap?: number };

/** What a process has around its tasks, and what can fail there. */
export type Troubled = "prepare" | "settle" | "check" | "send" | "close";

/** One thing that happens in a schedule; numbers choose among what is there. */
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
    /** Somebody deletes the session of a task, and those of its children. */
    | { readonly type: "delete"; readonly task: number }
    | { readonly type: "detach" | "kill" | "wait"; readonly host: number; readonly task: number }
    | { readonly type: "crash"; readonly host: number; readonly calls: number; readonly isBefore: boolean }
    | {
        readonly type: "fault";
        readonly host: number;
        readonly calls: number;
        readonly isPassing: boolean;
        /** What failed was carried out all the same. */
        readonly isDone: boolean;
      }
    /** The next of something around tasks fails, or hangs until it is told to stop. */
    | { readonly type: "trouble"; readonly what: Troubled; readonly isHanging: boolean }
    | { readonly type: "sleep" | "wake" | "close"; readonly host: number }
    /** A process sleeps so long that others take its tasks over, and speaks when it wakes. */
    | { readonly type: "oversleep"; readonly host: number; readonly task: number }
    | { readonly type: "host" }
    | { readonly type: "advance"; readonly ms: number }
  );

const number = fc.nat(7);
const gap = fc.nat(25);

/** Half of the operations follow at once, so that they meet in the middle of each other. */
const withGap = <T extends Record<string, fc.Arbitrary<unknown>>>(record: T) =>
  fc.oneof(fc.record(record), fc.record({ ...record, gap }));

/** What happens to tasks as long as nothing dies, sleeps or breaks for good. */
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
  // What takes longer than a lease while a call is under way is a sleep.
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("advance"), ms: fc.constantFrom(100, 1_000) }),
  },
];

/** What may cost a task its life. */
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

/** Schedules: who does what, in which order and how close together. */
export const schedules: fc.Arbitrary<readonly Operation[]> = fc.oneof(
  { weight: 1, arbitrary: schedulesOf(gentle) },
  { weight: 4, arbitrary: schedulesOf([...gentle, ...harsh]) },
);

/** Whether an operation leaves tasks to end as their agents have it: no death, no sleep, no fault that lasts. */
export function isGentle(operation: Operation): boolean {
  const { type } = operation;
  if (type === "fault") return operation.isPassing && !operation.isDone;
  if (type === "advance") return operation.ms <= 1_000 && operation.gap === undefined;
  if (type === "trouble") return operation.what !== "prepare";
  return !["crash", "sleep", "oversleep", "close", "delete", "throw"].includes(type);
}
