import { collectGarbage } from "./memory.ts";

/** Items per second of `work`, starting from a heap without garbage. */
export async function rateOf<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void> | void,
): Promise<number> {
  collectGarbage();
  const startedMs = performance.now();
  await work(items);
  return (items.length / (performance.now() - startedMs)) * 1_000;
}
