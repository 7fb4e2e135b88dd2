import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { Hit, Recall } from "../hit.ts";
import { DEFAULT_AGENT } from "../memories/stored-memory.ts";
import type { RecallOptions } from "../recall-options.ts";
import { buildContextBlock, type ContextBlock, type ContextBlockOptions } from "./context-block.ts";
import { isSessionInScope } from "./session-in-scope.ts";
import { type RetrievalReason, shouldRetrieve } from "./should-retrieve.ts";
import { pickUnaskedHits } from "./unasked-hits.ts";

export interface RetrieveOptions
  extends ContextBlockOptions,
    Omit<RecallOptions, "threshold" | "activeLine" | "rewound" | "details"> {
  /** The agent whose memories may be shown, default "default"; those of other agents never are. */
  readonly agent?: string;
}

/** The context found for a message. */
export interface RetrievedContext extends ContextBlock {
  readonly reason: RetrievalReason;
}

/** Minimum score, relative to the best hit; lower hits are noise to a reader who did not ask for them. */
const THRESHOLD = 0.5;

/**
 * Searches memory for the content that a user message refers to; undefined if it refers to nothing, or if recall is not
 * sure of the result. An explicit "/context …" shows the result even then.
 */
export async function retrieveContext(
  memory: { recall(question: string, options?: RecallOptions): Promise<Recall> },
  userText: string,
  options: RetrieveOptions,
): Promise<RetrievedContext | undefined> {
  if (typeof memory?.recall !== "function")
    throw createArgumentError("memory", memory, "what kernel.memory is");
  checkFields("options", options, { shown: "object?", scope: "object?", signal: "signal?" });
  const { texts } = options.shown ?? {};
  const wanted = shouldRetrieve(userText, { ...(texts && { texts }) });
  if (!wanted) return undefined;
  const { scope, k, signal, waitMs, memories } = options;
  const isAsked = wanted.reason === "command";
  const { hits, isSure } = await memory.recall(wanted.question, {
    k: k ?? 8,
    // Nobody asked for it, so it must not bring back words that were taken back.
    activeLine: true,
    ...(!isAsked && { threshold: THRESHOLD }),
    ...dropUndefined({ scope, memories, signal, waitMs }),
  });
  if (!isAsked && !isSure) return undefined;
  const isOwn = (hit: Hit) =>
    hit.kind === "file" || isSessionInScope({ id: hit.session }, options.agent ?? DEFAULT_AGENT, undefined);
  const own = hits.filter(isOwn);
  const block = buildContextBlock(isAsked ? own : pickUnaskedHits(own), options);
  return block && { ...block, reason: wanted.reason };
}
