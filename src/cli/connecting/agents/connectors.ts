import type { AgentConnector } from "./agent-connector.ts";
import { claudeCodeConnector } from "./claude-code-connector.ts";
import { clineConnector } from "./cline-connector.ts";
import { codexConnector } from "./codex-connector.ts";
import { continueConnector } from "./continue-connector.ts";
import { MANUAL_CONNECTORS } from "./manual-connectors.ts";
import { openclawConnector } from "./openclaw-connector.ts";
import { opencodeConnector } from "./opencode-connector.ts";
import { piConnector } from "./pi-connector.ts";

/** All agents that longhaul knows, in the order of its output. */
export const CONNECTORS: readonly AgentConnector[] = [
  claudeCodeConnector,
  codexConnector,
  opencodeConnector,
  piConnector,
  clineConnector,
  continueConnector,
  openclawConnector,
  ...MANUAL_CONNECTORS,
];
