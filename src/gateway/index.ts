export {
  type GatewayConfig,
  getConfigSchemaJson,
  type TokenConfig,
  type UpstreamConfig,
} from "./config/config.ts";
export { type ConfigRequest, type LoadedConfig, loadConfig } from "./config/load-config.ts";
export type { ConfigFlags } from "./config/settings.ts";
export { createToken } from "./config/token.ts";
export { type LiveConfig, type ReloadResult, watchConfig } from "./config/watch-config.ts";
export { type Gateway, type GatewayOptions, openGateway } from "./gateway.ts";
export { type AgentLines, buildAgentLines } from "./pages/agents.ts";
export type { GatewayStatus, GatewayTotals, ThreadStatus, UpstreamStatus } from "./pages/status.ts";
