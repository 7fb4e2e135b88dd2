export { Api, type ApiDeps, type ApiRequest, type RouteName } from "./api.ts";
export type { ServerFacts } from "./api-services.ts";
export type {
  AgentChange,
  AgentConnection,
  AgentConnections,
  AgentLink,
  ConfigFileChange,
  ConnectionWay,
} from "./core/agent-connections.ts";
export type { ApiCaller } from "./core/api-caller.ts";
export type { GatewayFacts } from "./core/gateway-facts.ts";
export type { OidcSettings } from "./core/oidc-sign-in.ts";
