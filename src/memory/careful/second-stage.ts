import { isLonghaulError } from "../../model/errors.ts";
import type { RankedChunk } from "../make-hits.ts";
import type { ScopeKind } from "../rank/feature-weights.ts";
import type { CandidateReader } from "./candidate-reader.ts";
import { type ReadingDeps, readCarefully } from "./read-carefully.ts";

/** Services of the second stage. */
export interface SecondStageDeps extends Omit<ReadingDeps, "reader"> {
  /** Undefined if candidates cannot be read. */
  readonly reader: CandidateReader | undefined;
  readonly onWarning: ((warning: string) => void) | undefined;
}

interface SecondStageResult {
  /** Best first. */
  readonly ranked: readonly RankedChunk[];
  /** Why the candidates were not read, if they were not. */
  readonly withoutReading?: string;
}

/** Orders the best candidates again after reading them; if they cannot be read, their order stays. */
export async function runSecondStage(
  { reader, onWarning, ...deps }: SecondStageDeps,
  { question, kind }: { readonly question: string; readonly kind: ScopeKind },
  ranked: readonly RankedChunk[],
  signal: AbortSignal | undefined,
): Promise<SecondStageResult> {
  if (!reader) return { ranked, withoutReading: "there is no reader" };
  if (kind === "work")
    return { ranked, withoutReading: "tool calls and results are ordered better without it" };
  try {
    return { ranked: await readCarefully({ reader, ...deps }, question, ranked, signal) };
  } catch (error) {
    if (isLonghaulError(error, "ABORTED")) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    onWarning?.(`Recall was not careful: ${reason}`);
    return { ranked, withoutReading: reason };
  }
}
