export { aiSdkEmbedder } from "../memory/embed/ai-sdk.ts";
export { fitMessages } from "./fit-messages.ts";
export type { LonghaulModelOptions } from "./options.ts";
export { prepareStep } from "./prepare-step.ts";
export { type MemoryToolsOptions, memoryTools } from "./tools/memory-tools.ts";
export { withLonghaul } from "./with-longhaul.ts";
