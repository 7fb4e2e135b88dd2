import type { Kernel } from "../../src/kernel/index.ts";
import { Random } from "../support/random.ts";

const BATCH = 500;
const WORDS_PER_MESSAGE = 70;
/** More words than the analyzer of recall caches. */
const VOCABULARY = 12_000;

/** Fills a store with a long, indexed conversation, so that all caches of pages, vectors, chunks and words start full. */
export async function fillStore(kernel: Kernel, messages: number): Promise<void> {
  await using session = await kernel.session("an earlier conversation");
  const random = new Random(1);
  const text = () =>
    Array.from({ length: WORDS_PER_MESSAGE }, () => `w${random.below(VOCABULARY).toString(36)}`).join(" ");
  for (let from = 0; from < messages; from += BATCH)
    await session.appendAll(Array.from({ length: BATCH }, () => ({ role: "user" as const, text: text() })));
  await kernel.memory.catchUp();
}
