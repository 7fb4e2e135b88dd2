// The configuration for the program, which reads it without loading the gateway.
export { getConfigSchemaJson } from "./config.ts";
export { findUserFolder } from "./config-files.ts";
export type { Environment } from "./config-flags.ts";
export { toListenError } from "./listen-failure.ts";
export { type ConfigRequest, type LoadedConfig, loadConfig } from "./load-config.ts";
export { readTrustableFile } from "./project-file.ts";
export { getTrustState, listTrusted, removeTrust, trustContent } from "./trusted-files.ts";
export { type ReloadResult, watchConfig } from "./watch-config.ts";
export { findMissingUpstreams } from "./well-known-upstreams.ts";
