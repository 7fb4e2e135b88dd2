// The configuration for the program, which reads it without loading the gateway.
export { getConfigSchemaJson } from "./config.ts";
export { chooseUserFile, findUserFolder, listProjectFiles, parseConfig } from "./config-files.ts";
export { type Environment, SETTING_VARIABLES } from "./config-flags.ts";
export { getConfigValue, parseConfigKey } from "./config-key.ts";
export { readKernelOptions } from "./kernel-settings.ts";
export { toListenError } from "./listen-failure.ts";
export { type ConfigRequest, checkFileContent, type LoadedConfig, loadConfig } from "./load-config.ts";
export { toMonitorOptions } from "./monitor-settings.ts";
export { isProjectKey, readTrustableFile } from "./project-file.ts";
export { getTrustState, isTrusted, listTrusted, removeTrust, trustContent } from "./trusted-files.ts";
export { type ReloadResult, watchConfig } from "./watch-config.ts";
export { findMissingUpstreams } from "./well-known-upstreams.ts";
