/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { Embedder } from "./memory/embed/embedder.ts";
export { ollamaEmbedder } from "./memory/embed/ollama-embedder.ts";
export { openAiEmbedder } from "./memory/embed/openai-embedder.ts";
export type { IndexedFiles } from "./memory/files/index-files.ts";
export type { HitCopy } from "./memory/hit.ts";
export type { Fix, HitDetails, MatchedSentence, WorkStretch } from "./memory/hit-details.ts";
export { describeLikelihood, type Likelihood } from "./memory/hits/likelihood.ts";
export { findMatchedSentence } from "./memory/hits/matched-sentence.ts";
export type { Decision, DecisionOptions } from "./memory/list-decisions.ts";
export { editMemory, type MemoryEdit } from "./memory/memories/edit-memory.ts";
export {
  type LegacyPins,
  readLegacyMemories,
  rememberLegacy,
  toLegacyPins,
} from "./memory/memories/legacy-pins.ts";
export type { MemoryEvent } from "./memory/memories/memory-history.ts";
export type { MemoryFilter, MemoryTrust, Validity } from "./memory/memories/memory-trust.ts";
export type { MemoryPlace } from "./memory/memories/move-memory.ts";
export type { RecalledMemory } from "./memory/memories/recallable-memories.ts";
export type { MemoryAuthor, RememberOptions } from "./memory/memories/remembered-fact.ts";
export type { IndexSource, MemoryState, UnindexedPage, UnindexedSession } from "./memory/memory-state.ts";
export { rankSessions } from "./memory/rank/rank-sessions.ts";
export { AgentMemory, type AgentMemoryDeps } from "./memory/retrieval/agent-memory.ts";
export { buildContextBlock, type ContextBlock, toContextMessage } from "./memory/retrieval/context-block.ts";
export type { WindowContent } from "./memory/retrieval/fresh-hits.ts";
export {
  type RetrievedContext,
  type RetrieveOptions,
  retrieveContext,
} from "./memory/retrieval/retrieve-context.ts";
export { shouldRetrieve, type WantedRetrieval } from "./memory/retrieval/should-retrieve.ts";
