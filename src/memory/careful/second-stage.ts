import { isLonghaulError } from "../../model/errors.ts";
import type { SearchResult } from "../index-search.ts";
import type { RankedChunk } from "../make-hits.ts";
import { findScopeKind } from "../rank/scope-kind.ts";
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

/**
 * Orders the best candidates again after reading them. The order stays if they cannot be read, or if they are an
 * agent's work, which the first stage orders better alone.
 */
export async function runSecondStage(
  { reader, onWarning, ...deps }: SecondStageDeps,
  { question, found, context }: Pick<SearchResult, "question" | "found" | "context">,
  ranked: readonly RankedChunk[],
  signal: AbortSignal | undefined,
): Promise<SecondStageResult> {
  if (!reader) return { ranked, withoutReading: "there is no reader" };
  if (findScopeKind(found.turns, context) === "work")
    return { ranked, withoutReading: "tool calls and results are ordered better without reading" };
  try {
    return { ranked: await readCarefully({ reader, ...deps }, question, ranked, signal) };
  } catch (error) {
    if (isLonghaulError(error, "ABORTED")) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    onWarning?.(`Recall was not careful: ${reason}`);
    return { ranked, withoutReading: reason };
  }
}
