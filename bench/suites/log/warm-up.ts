import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { Corpus } from "../../corpus.ts";
import type { Contestant } from "../../peers/contestant.ts";

/** Limits for contestants that are slow or whose cost grows with every message. */
const AT_MOST: Readonly<Record<string, number>> = { mastra: 500, langgraph: 20, "whole-array": 100 };

/** Appends until nearly all code is compiled; a quick run uses fewer. */
export function warmUpLength({ isQuick }: Bench): number {
  return isQuick ? 8_000 : 10_000;
}

/** Appends to and reads a throwaway conversation, so that the code is loaded and compiled before timing starts. */
export async function warmUp(
  contestant: Contestant,
  corpus: Corpus,
  folder: string,
  length: number,
): Promise<void> {
  const throwaway = mkdtempSync(join(folder, "warm-up-"));
  const conversation = await contestant.open(throwaway);
  const count = Math.min(length, AT_MOST[contestant.name] ?? length);
  for (let index = 0; index < count; index++) await conversation.append(corpus.message(index));
  await conversation.last(50);
  await conversation.close();
  rmSync(throwaway, { recursive: true, force: true });
}
