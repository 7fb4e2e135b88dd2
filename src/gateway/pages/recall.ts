import type { Kernel } from "../../index.ts";
import type { PageAnswer } from "./answer.ts";
import { checkMethod, type PageQuestion, wholeArgument } from "./asked.ts";
import { PageFault } from "./page-fault.ts";

const HITS = { otherwise: 10, max: 50 };
const MOST_CHARACTERS = 4_000;
/** Maximum time for indexing new entries. */
const WAIT_MS = 2_000;

/** Recalls from the reader's sessions. */
export async function recallPage(kernel: Kernel, asked: PageQuestion): Promise<PageAnswer> {
  checkMethod(asked, "GET", "HEAD");
  const { query, prefix, signal } = asked;
  const question = (query.get("q") ?? "").trim();
  if (question === "" || question.length > MOST_CHARACTERS) {
    const message = `Ask a question as ?q=…, at most ${MOST_CHARACTERS} characters; q has ${question.length}.`;
    throw new PageFault(400, "ARGUMENT_INVALID", message);
  }
  const k = wholeArgument(asked, "k", HITS);
  const wanted = query.get("prefix") ?? "";
  const sessions = query.getAll("session");
  // A reader with a prefix sees only sessions within it, whatever else the query asks for.
  const within = wanted.startsWith(prefix) ? wanted : prefix;
  const scope = { ...(within !== "" && { prefix: within }), ...(sessions.length > 0 && { sessions }) };
  const isScoped = Object.keys(scope).length > 0;
  const recalled = await kernel.memory.recall(question, {
    k,
    signal,
    waitMs: WAIT_MS,
    ...(isScoped && { scope }),
  });
  return { json: { question, ...recalled } };
}
