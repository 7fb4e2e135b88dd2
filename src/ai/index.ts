export { fitMessages } from "./fit-messages.ts";
export type { LonghaulModelOptions } from "./options.ts";
export { prepareStep } from "./prepare-step.ts";
export { withLonghaul } from "./with-longhaul.ts";
