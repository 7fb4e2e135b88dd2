import { collectGarbage } from "./memory.ts";

/** How many items a second `work` takes, from a heap without garbage. */
export async function rateOf<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void> | void,
): Promise<number> {
  collectGarbage();
  const startedMs = performance.now();
  await work(items);
  return (items.length / (performance.now() - startedMs)) * 1_000;
}
