import { type Kernel, type Message, openKernel, textOfMessage } from "../../kernel/index.ts";
import type { MarkedQuestion } from "./read-questions.ts";

/** Settings of the window for a question. */
export interface EvidenceCase {
  readonly policy: string;
  readonly window: number;
  /** True if evicted content may be paged back. */
  readonly isPaging: boolean;
}

/** Evidence found in the windows of a number of questions. */
export interface EvidenceScore extends EvidenceCase {
  readonly questions: number;
  /** Questions whose whole evidence was in the window verbatim. */
  readonly whole: number;
  readonly sentTokens: number;
}

const MODEL = "replayed";
const MAX_OUTPUT_TOKENS = 4_000;

/** Asks each question at the end of its conversation under each setting and looks for the evidence in the window. */
export async function scoreEvidence(
  questions: readonly MarkedQuestion[],
  settings: readonly EvidenceCase[],
  onQuestion: (done: number) => void = () => undefined,
): Promise<readonly EvidenceScore[]> {
  const sums = settings.map((setting) => ({ ...setting, questions: 0, whole: 0, sentTokens: 0 }));
  for (const [index, question] of questions.entries()) {
    onQuestion(index);
    await using kernel = await openKernel({ path: ":memory:" });
    for (const [at, setting] of settings.entries()) {
      const { isWhole, tokens } = await askQuestion(kernel, `${at}`, question, setting);
      const sum = sums[at] as (typeof sums)[number];
      sum.questions++;
      sum.sentTokens += tokens;
      if (isWhole) sum.whole++;
    }
  }
  return sums;
}

async function askQuestion(
  kernel: Kernel,
  id: string,
  { conversation, question, evidence }: MarkedQuestion,
  { policy, window, isPaging }: EvidenceCase,
): Promise<{ readonly isWhole: boolean; readonly tokens: number }> {
  const session = await kernel.session(id);
  await session.appendAll(conversation.map(({ message }) => message));
  await session.append({ role: "user", text: question });
  const fitted = await session
    .window({
      model: MODEL,
      policy,
      models: { [MODEL]: { window, maxOutput: MAX_OUTPUT_TOKENS } },
      oversize: "clip",
      paging: isPaging,
    })
    .fit();
  return { isWhole: evidence.every((text) => isInMessages(text, fitted.messages)), tokens: fitted.tokens };
}

function isInMessages(text: string, messages: readonly Message[]): boolean {
  return messages.some((message) => textOfMessage(message).includes(text));
}
