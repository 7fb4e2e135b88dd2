import type { Log } from "../../src/log/log.ts";
import type { Memory } from "../../src/recall/memory.ts";

/**
 * Milliseconds from an acknowledged append until a recall has found the message, for each of some messages; a recall
 * that does not find it is repeated.
 */
export async function measureReadableLags(log: Log, memory: Memory, rounds: number): Promise<number[]> {
  const session = "readable-lag";
  await log.store.sessions.open({ id: session, createdAt: 1 });
  const lags: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const word = `lag${round}q${process.pid}x`;
    const message = await log.prepare({ role: "user", text: `The parcel ${word} arrived at the harbor.` });
    await log.appendOne(session, message);
    const start = performance.now();
    for (;;) {
      const { hits } = await memory.recall(`Where did ${word} arrive?`);
      if (hits.some(({ text }) => text.includes(word))) break;
    }
    lags.push(performance.now() - start);
  }
  return lags;
}
