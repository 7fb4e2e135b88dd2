import { checkFields } from "../../model/arguments.ts";
import { invalidArgument } from "../../model/errors.ts";
import type { Hit, Recall } from "../hit.ts";
import { DEFAULT_AGENT } from "../memories/remembered.ts";
import type { RecallOptions } from "../memory.ts";
import { type ContextBlock, type ContextBlockOptions, contextBlock } from "./context-block.ts";
import { isSessionInScope } from "./session-in-scope.ts";
import { type RetrievalReason, shouldRetrieve } from "./should-retrieve.ts";

/** What a retrieval may be told. */
export interface RetrieveOptions extends ContextBlockOptions, Omit<RecallOptions, "threshold"> {
  /** Whose memories may be shown; those of other agents never are. "default" unless given. */
  readonly agent?: string;
}

/** What was found for a message. */
export interface RetrievedContext extends ContextBlock {
  readonly reason: RetrievalReason;
}

/** Hits that score less than this share of the best are noise to whoever did not ask for them. */
const THRESHOLD = 0.5;

/**
 * Looks in memory for what a message of the user refers to; undefined if it refers to nothing, or nothing is found that
 * memory is sure of. What the person asks for by "/context …" is shown even if it is not.
 */
export async function retrieveContext(
  memory: { recall(question: string, options?: RecallOptions): Promise<Recall> },
  userText: string,
  options: RetrieveOptions,
): Promise<RetrievedContext | undefined> {
  if (typeof memory?.recall !== "function") throw invalidArgument("memory", memory, "what kernel.memory is");
  checkFields("options", options, { shown: "object?", scope: "object?", signal: "signal?" });
  const { texts } = options.shown ?? {};
  const wanted = shouldRetrieve(userText, { ...(texts && { texts }) });
  if (!wanted) return undefined;
  const { scope, k, signal, waitMs } = options;
  const isAsked = wanted.reason === "command";
  const { hits, isSure } = await memory.recall(wanted.question, {
    k: k ?? 8,
    ...(!isAsked && { threshold: THRESHOLD }),
    ...(scope && { scope }),
    ...(signal && { signal }),
    ...(waitMs !== undefined && { waitMs }),
  });
  if (!isAsked && !isSure) return undefined;
  const isOwn = (hit: Hit) =>
    hit.kind === "file" || isSessionInScope({ id: hit.session }, options.agent ?? DEFAULT_AGENT, undefined);
  const block = contextBlock(hits.filter(isOwn), options);
  return block && { ...block, reason: wanted.reason };
}
