// The configuration for the program, which reads it without loading the gateway.
export { getConfigSchemaJson } from "./config.ts";
export { chooseUserFile, findUserFolder, listProjectFiles, parseConfig } from "./config-files.ts";
export { type Environment, SETTING_VARIABLES } from "./config-flags.ts";
export { getConfigValue, parseConfigKey, readKernelOptions, toMonitorOptions } from "./kernel-settings.ts";
export { toListenError } from "./listen-failure.ts";
export { type ConfigRequest, checkFileContent, type LoadedConfig, loadConfig } from "./load-config.ts";
export { toOpenableHost, toOpenableUrl } from "./loopback.ts";
export {
  getTrustState,
  isProjectKey,
  isTrusted,
  listTrusted,
  readTrustableFile,
  removeTrust,
  trustContent,
} from "./project-file.ts";
export { type ReloadResult, watchConfig } from "./watch-config.ts";
export { findMissingUpstreams, isAnthropicReached } from "./well-known-upstreams.ts";
