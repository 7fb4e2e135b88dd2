export { createToken } from "./config/access-token.ts";
export {
  type GatewayConfig,
  getConfigSchemaJson,
  type TokenConfig,
  type UpstreamConfig,
} from "./config/config.ts";
export type { ConfigFlags } from "./config/config-flags.ts";
export { readKernelOptions } from "./config/kernel-settings.ts";
export { type ConfigRequest, type LoadedConfig, loadConfig } from "./config/load-config.ts";
export { type LiveConfig, type ReloadResult, watchConfig } from "./config/watch-config.ts";
export { type Gateway, type GatewayOptions, openGateway } from "./gateway.ts";
export type { GatewayStatus, GatewayTotals, ThreadStatus, UpstreamStatus } from "./observe/gateway-status.ts";
export { type AgentLines, buildAgentLines, type GatewayAddress } from "./pages/agent-lines.ts";
export type { McpMount } from "./reception/answer-mcp.ts";
