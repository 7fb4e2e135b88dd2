import type { Kernel } from "../../index.ts";
import { PageFault } from "./page-fault.ts";
import type { PageReply } from "./page-reply.ts";
import { checkMethod, type PageRequest, readWholeArgument } from "./page-request.ts";

const HIT_LIMITS = { otherwise: 10, max: 50 };
const MAX_CHARACTERS = 4_000;
/** Maximum time for indexing new entries. */
const WAIT_MS = 2_000;

/** Recalls from the reader's sessions. */
export async function buildRecallPage(kernel: Kernel, callRequest: PageRequest): Promise<PageReply> {
  checkMethod(callRequest, "GET", "HEAD");
  const { query, prefixes, signal } = callRequest;
  const question = (query.get("q") ?? "").trim();
  if (question === "" || question.length > MAX_CHARACTERS) {
    const message = `Ask a question as ?q=…, at most ${MAX_CHARACTERS} characters; q has ${question.length}.`;
    throw new PageFault(400, "ARGUMENT_INVALID", message);
  }
  const k = readWholeArgument(callRequest, "k", HIT_LIMITS);
  const prefix = query.get("prefix") ?? "";
  const sessions = query.getAll("session");
  // A reader with prefixes sees only sessions within them, whatever else the query asks for.
  const scope = {
    ...(prefixes && { prefixes }),
    ...(prefix !== "" && { prefix }),
    ...(sessions.length > 0 && { sessions }),
  };
  const isScoped = Object.keys(scope).length > 0;
  const recall = await kernel.memory.recall(question, {
    k,
    details: true,
    rewound: query.get("rewound") === "true",
    signal,
    waitMs: WAIT_MS,
    ...(isScoped && { scope }),
  });
  return { json: { question, ...recall } };
}
