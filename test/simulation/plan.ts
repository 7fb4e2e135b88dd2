import { Random } from "../support/random.ts";

/** Something that happens in a simulated world at a time; numbers select among the existing things. */
export type Operation = { readonly atMs: number } & (
  | { readonly type: "say"; readonly client: number; readonly gateway: number; readonly words: number }
  | { readonly type: "append"; readonly writer: number; readonly gateway: number; readonly count: number }
  | { readonly type: "task"; readonly gateway: number; readonly agent: number }
  | { readonly type: "kill" | "detach"; readonly gateway: number; readonly task: number }
  /** A process dies after some more calls to its store: before or after the last of them is done. */
  | { readonly type: "crash"; readonly gateway: number; readonly calls: number; readonly isDone: boolean }
  /** For a time, the store refuses calls, or the network cuts connections. */
  | { readonly type: "store"; readonly share: number; readonly forMs: number }
  | { readonly type: "network"; readonly share: number; readonly forMs: number }
  | { readonly type: "provider"; readonly share: number; readonly forMs: number }
  /** A machine sleeps: others take over, and it wakes with its old knowledge. */
  | { readonly type: "freeze"; readonly gateway: number; readonly forMs: number }
  | { readonly type: "clock"; readonly gateway: number; readonly skewMs: number }
);

const MINUTE = 60_000;

/** Makes a plan of operations over some hours from a seed. */
export function makePlan(seed: number, hours: number, perHour = 60): readonly Operation[] {
  const chance = new Random(seed);
  const count = Math.max(8, Math.round(hours * perHour));
  const times = Array.from({ length: count }, () => chance.next() * hours * 60 * MINUTE).sort(
    (a, b) => a - b,
  );
  let burst = 0;
  return times.map((time, index): Operation => {
    // Some operations follow each other at once, so that they overlap.
    burst = index > 0 && chance.chance(0.7) ? burst : time;
    const atMs = Math.round(burst + (burst === time ? 0 : chance.below(2_000)));
    const gateway = chance.below(8);
    const kind = chance.below(100);
    if (kind < 40)
      return {
        atMs,
        type: "say",
        client: chance.below(6),
        gateway,
        words: chance.chance(0.1) ? 3_000 : 5 + chance.below(400),
      };
    if (kind < 50)
      return { atMs, type: "append", writer: chance.below(2), gateway, count: 1 + chance.below(4) };
    if (kind < 65) return { atMs, type: "task", gateway, agent: chance.below(2) };
    if (kind < 70)
      return { atMs, type: chance.chance(0.5) ? "kill" : "detach", gateway, task: chance.below(8) };
    if (kind < 84)
      return { atMs, type: "crash", gateway, calls: 1 + chance.below(30), isDone: chance.chance(0.5) };
    if (kind < 90)
      return { atMs, type: "store", share: 0.1 + chance.next() * 0.4, forMs: 1_000 + chance.below(20_000) };
    if (kind < 93)
      return {
        atMs,
        type: "network",
        share: 0.02 + chance.next() * 0.2,
        forMs: 1_000 + chance.below(20_000),
      };
    if (kind < 96)
      return { atMs, type: "provider", share: chance.next(), forMs: 1_000 + chance.below(20_000) };
    if (kind < 98) return { atMs, type: "freeze", gateway, forMs: 1_000 + chance.below(180_000) };
    return { atMs, type: "clock", gateway, skewMs: chance.below(20 * MINUTE) - 10 * MINUTE };
  });
}
