export {
  createMcpEndpoint,
  type McpEndpoint,
  type McpOptions,
  SKILL_FILE,
  SKILL_TEXT,
  serveMcpStdio,
} from "../mcp/index.ts";
