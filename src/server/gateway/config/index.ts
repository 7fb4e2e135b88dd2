// The configuration for the program, which reads it without loading the gateway.
export { getConfigSchemaJson } from "./config.ts";
export { chooseUserFile, findUserFolder, listProjectFiles, parseConfig } from "./config-files.ts";
export { type Environment, SETTING_VARIABLES } from "./config-flags.ts";
export { toListenError } from "./config-problem.ts";
export { getConfigValue, parseConfigKey, readKernelOptions, toMonitorOptions } from "./kernel-settings.ts";
export { type ConfigRequest, checkFileContent, type LoadedConfig, loadConfig } from "./load-config.ts";
export {
  getTrustState,
  isProjectKey,
  isTrusted,
  listTrusted,
  readTrustableFile,
  removeTrust,
  trustContent,
} from "./project-file.ts";
export { toOpenableHost, toOpenableUrl } from "./schema-values.ts";
export { type ReloadResult, watchConfig } from "./watch-config.ts";
export { findMissingUpstreams, isAnthropicReached } from "./well-known-upstreams.ts";
