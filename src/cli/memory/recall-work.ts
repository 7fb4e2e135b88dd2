import { readConversations } from "../../kernel/calls/project-conversations.ts";
import { renderWorkHit } from "../../kernel/calls/render-work.ts";
import { WORK_QUESTIONS, WorkHistory, type WorkQuestion } from "../../kernel/calls/work-history.ts";
import type { Kernel } from "../../kernel/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import type { SessionScope } from "../sessions/session-scope.ts";
import { escapeLine } from "../terminal/escape.ts";
import { printResult } from "../terminal/print-lines.ts";

/** A question about work, as the command line names it. */
interface NamedQuestion {
  readonly question: WorkQuestion;
  readonly words: string;
}

/** Words after "how" in a plain question, such as "how do we deploy". */
const PLAIN =
  /^(?:do|does|did|is|are|was|were|can|could|should|would|will|to|many|much|long|often|old|far)$/i;
const FILE = /[\\/.]/;

/** The question about work in some operands; undefined for a plain question that only begins with such a word. */
export function findWorkQuestion([first = "", ...rest]: readonly string[]): NamedQuestion | undefined {
  const question = WORK_QUESTIONS.find((one) => one === first);
  const words = rest.join(" ").trim();
  if (question === undefined || words === "") return undefined;
  if (question === "how" && PLAIN.test(rest[0]?.split(" ")[0] ?? "")) return undefined;
  if (question === "why" && (rest.length > 1 || !FILE.test(words) || /\s/.test(words))) return undefined;
  return { question, words };
}

/** Prints the steps of earlier work that answer a question, best first. */
export async function answerAboutWork(
  context: CliContext,
  options: CommonValues,
  asked: NamedQuestion & { readonly kernel: Kernel; readonly k: number; readonly scope: SessionScope },
): Promise<number> {
  const { kernel, question, words, k, scope } = asked;
  const { conversations } = await readConversations(kernel, { prefixes: scope.prefixes });
  const sessions = conversations.map(({ id }) => id);
  const hits = await new WorkHistory(kernel).ask(question, words, { sessions, limit: k });
  await printResult(
    context,
    options,
    () => ({ question, words, hits }),
    () =>
      hits.length === 0
        ? ["Nothing of that kind was done before."]
        : hits.map((hit, index) => `${String(index + 1).padStart(2)}  ${escapeLine(renderWorkHit(hit))}`),
  );
  return EXIT.fine;
}
