export {
  type AiSdkAgentOptions,
  aiSdkAgent,
  aiSdkEmbedder,
  aiSdkProvider,
  fitMessages,
  type LonghaulModelOptions,
  type MemoryToolsOptions,
  memoryTools,
  prepareStep,
  type TaskToolsOptions,
  taskTools,
  withLonghaul,
} from "../ai/index.ts";
