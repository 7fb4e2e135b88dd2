/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export {
  AgentMemory,
  describeLikelihood,
  type Embedder,
  editMemory,
  findMatchedSentence,
  type IndexedFiles,
  type MemoryState,
  ollamaEmbedder,
  openAiEmbedder,
  rankSessions,
  readLegacyMemories,
  rememberLegacy,
  retrieveContext,
  shouldRetrieve,
  toContextMessage,
  toLegacyPins,
} from "../faces/memory.ts";
