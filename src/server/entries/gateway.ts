export {
  buildAgentLines,
  createToken,
  type Gateway,
  type GatewayConfig,
  type GatewayOptions,
  getConfigSchemaJson,
  loadConfig,
  openGateway,
  readKernelOptions,
  watchConfig,
} from "../gateway/index.ts";
