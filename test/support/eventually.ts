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

/**
 * Lets everything run that is ready, and all that becomes ready by it: turns of the event loop instead of a time, for
 * tests that something does not happen.
 */
export async function turns(count = 200): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
