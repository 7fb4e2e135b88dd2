import * as fc from "fast-check";

/** How many turns of the queue of promises pass before the next operation; undefined: until all is quiet. */
type Gap = { readonly gap?: number };

/** One thing that happens in a schedule; numbers choose among what is there. */
export type Operation = Gap &
  (
    | {
        readonly type: "start";
        readonly host: number;
        readonly agent: number;
        readonly isForeground: boolean;
      }
    | { readonly type: "child"; readonly task: number }
    | { readonly type: "say" | "finish" | "throw"; readonly task: number }
    | { readonly type: "detach" | "kill" | "wait"; readonly host: number; readonly task: number }
    | { readonly type: "crash"; readonly host: number; readonly calls: number; readonly isBefore: boolean }
    | { readonly type: "fault"; readonly host: number; readonly calls: number; readonly isPassing: boolean }
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

/** Schedules: who does what, in which order and how close together. */
export const schedules: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    {
      weight: 7,
      arbitrary: withGap({
        type: fc.constant("start"),
        host: number,
        agent: number,
        isForeground: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: withGap({ type: fc.constant("child"), task: number }) },
    {
      weight: 5,
      arbitrary: withGap({ type: fc.constantFrom("say", "say", "finish", "throw"), task: number }),
    },
    {
      weight: 9,
      arbitrary: withGap({
        type: fc.constantFrom("detach", "detach", "kill", "kill", "wait"),
        host: number,
        task: number,
      }),
    },
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
      }),
    },
    { weight: 3, arbitrary: withGap({ type: fc.constantFrom("sleep", "wake", "close"), host: number }) },
    { weight: 2, arbitrary: withGap({ type: fc.constant("oversleep"), host: number, task: number }) },
    { weight: 2, arbitrary: withGap({ type: fc.constant("host") }) },
    {
      weight: 2,
      arbitrary: withGap({ type: fc.constant("advance"), ms: fc.constantFrom(100, 1_000, 4_000) }),
    },
  ) as fc.Arbitrary<Operation>,
  { minLength: 2, maxLength: 16 },
);
