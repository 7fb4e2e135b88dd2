/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { Embedder } from "../../recall/embed/embedder.ts";
export { ollamaEmbedder } from "../../recall/embed/ollama-embedder.ts";
export { openAiEmbedder } from "../../recall/embed/openai-embedder.ts";
export type { IndexedFiles } from "../../recall/files/index-files.ts";
export type { HitCopy } from "../../recall/hit.ts";
export type { Fix, HitDetails, MatchedSentence, WorkStretch } from "../../recall/hit-details.ts";
export { describeLikelihood, type Likelihood } from "../../recall/hits/likelihood.ts";
export { findMatchedSentence } from "../../recall/hits/matched-sentence.ts";
export type { Decision, DecisionOptions } from "../../recall/list-decisions.ts";
export { editMemory, type MemoryEdit } from "../../recall/memories/edit-memory.ts";
export {
  type LegacyPins,
  readLegacyMemories,
  rememberLegacy,
  toLegacyPins,
} from "../../recall/memories/legacy-pins.ts";
export type { MemoryEvent } from "../../recall/memories/memory-history.ts";
export type { MemoryFilter, MemoryTrust, Validity } from "../../recall/memories/memory-trust.ts";
export type { MemoryPlace } from "../../recall/memories/move-memory.ts";
export type { RecalledMemory } from "../../recall/memories/recallable-memories.ts";
export type { MemoryAuthor, RememberOptions } from "../../recall/memories/stored-memory.ts";
export type { IndexSource, MemoryState, UnindexedPage, UnindexedSession } from "../../recall/memory-state.ts";
export { rankSessions } from "../../recall/rank/rank-sessions.ts";
export { AgentMemory, type AgentMemoryDeps } from "../../recall/retrieval/agent-memory.ts";
export {
  buildContextBlock,
  type ContextBlock,
  toContextMessage,
} from "../../recall/retrieval/context-block.ts";
export type { WindowContent } from "../../recall/retrieval/fresh-hits.ts";
export {
  type RetrievedContext,
  type RetrieveOptions,
  retrieveContext,
} from "../../recall/retrieval/retrieve-context.ts";
export { shouldRetrieve, type WantedRetrieval } from "../../recall/retrieval/should-retrieve.ts";
export { pickUnaskedHits } from "../../recall/retrieval/unasked-hits.ts";
