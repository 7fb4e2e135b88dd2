import { setTimeout as sleep } from "node:timers/promises";

/** As long as the suite's polls wait. */
const LIMIT_MS = 60_000;

/** Waits until a condition holds; a test that waits in vain fails after a minute, and its message ends with `what`. */
export async function eventually(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`Waited ${LIMIT_MS / 1_000} s in vain until ${what}.`);
    await sleep(5);
  }
}
