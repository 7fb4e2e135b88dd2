import { join } from "node:path";
import { importSources } from "../../../../src/histories/index.ts";
import { openKernel } from "../../../../src/kernel/open-kernel.ts";
import { type OpenRecall, openRecall } from "../open-recall.ts";
import { QuestionBuilder } from "./build-questions.ts";
import { type HistoryEntry, readHistory } from "./history-entries.ts";
import type { HistoryQuestion } from "./history-question.ts";

/** Agents whose histories have plans, commits or reports. */
export const HISTORY_FORMATS = ["claude-code", "codex", "opencode", "pi"] as const;

/** An imported history with recall over it, and the questions that it answers. */
export interface OpenHistory {
  readonly recall: OpenRecall;
  readonly questions: readonly HistoryQuestion[];
}

/** Imports the transcripts of one agent into a store at `folder`; `onEntry` sees every message. */
export async function openHistory(
  transcripts: string,
  format: string,
  folder: string,
  onEntry: (entry: HistoryEntry) => void = () => undefined,
): Promise<OpenHistory> {
  const path = join(folder, format);
  const kernel = await openKernel({ path, embedder: null });
  await importSources(kernel, [join(transcripts, format)]);
  await kernel.close();
  const recall = await openRecall(path);
  const builder = new QuestionBuilder();
  for await (const entry of readHistory(recall.log)) {
    builder.add(entry);
    onEntry(entry);
  }
  return { recall, questions: builder.end() };
}
