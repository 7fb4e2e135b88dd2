import { defineCommand } from "../cli-command.ts";
import { CONNECTORS } from "../connecting/agents/connectors.ts";
import { chooseAgents } from "../connecting/choose-agents.ts";
import { connectAgents } from "../connecting/connect-agents.ts";
import { disconnectAgents } from "../connecting/disconnect-agents.ts";
import { findAgents } from "../connecting/find-agents.ts";
import { HOOK_AGENTS } from "../connecting/hook-connectors.ts";
import { EXIT } from "../exit-code.ts";
import { toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

const DRY_RUN = { type: "boolean", help: "show the changes and write nothing" } as const;

const NAMES = CONNECTORS.map(({ name }) => name).join(", ");

/** Points agents at the gateway. */
export const connectCommand = defineCommand({
  name: "connect",
  summary: "point the agents on this computer at the gateway, or at the MCP server (--mcp)",
  usage: [
    "connect [agent…] [--yes] [--dry-run] [--url URL]",
    "connect --mcp [agent…] [--yes] [--dry-run]",
    "connect --hooks [agent…] [--yes] [--dry-run]",
  ],
  about: `Finds the agents on this computer, shows the exact change to each configuration file, and writes it when you agree. A backup of each file goes to the store's folder; "longhaul disconnect" restores it. Agents whose settings are not in a file get instructions. With --mcp, agents get longhaul as an MCP server, which they start themselves; with --url too, that of a running gateway. With --hooks, agents call longhaul at the start of a session, at a prompt, before and after steps and at a compaction, and get text of earlier work; with --url, Claude Code asks that gateway. Agents: ${NAMES}.`,
  options: {
    "dry-run": DRY_RUN,
    mcp: {
      type: "boolean",
      help: "add the MCP server to agents instead of sending their requests through the gateway",
    },
    hooks: {
      type: "boolean",
      help: "give agents hooks that recall at the moment of action, without a gateway",
    },
    yes: { type: "boolean", short: "y", help: "write the changes without asking" },
    url: {
      type: "string",
      value: "URL",
      help: "address of the gateway (default: that of its configuration)",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul connect",
    "longhaul connect claude-code codex --yes",
    "longhaul connect --dry-run --json",
    "longhaul connect --mcp claude-code",
    "longhaul connect --hooks",
  ],
  async run(context, { operands, options }) {
    const known = options.hooks ? HOOK_AGENTS : CONNECTORS;
    const agents = operands.length > 0 ? chooseAgents(operands, known) : findAgents(context, known);
    if (agents.length > 0) return connectAgents(context, options, agents);
    const none = `No agent was found on this computer. Name one to write its file anyway: ${NAMES}.\n`;
    await printTo(context.stdout, options.json ? `${toSafeJson({ agents: [] })}\n` : none);
    return EXIT.fine;
  },
});

/** Undoes `connect`. */
export const disconnectCommand = defineCommand({
  name: "disconnect",
  summary: "restore the configuration files of agents",
  usage: ["disconnect [agent…] [--mcp] [--hooks] [--yes] [--dry-run]"],
  about:
    "Restores each file byte for byte and removes the folders that connect made. If you have changed a file since, only longhaul's own settings are removed. Works without a running gateway, without a store and without backups.",
  options: {
    "dry-run": DRY_RUN,
    yes: { type: "boolean", short: "y", help: "accepted as for connect; disconnect never asks" },
    mcp: { type: "boolean", help: "remove only the MCP server" },
    hooks: { type: "boolean", help: "remove only the hooks" },
    url: {
      type: "string",
      value: "URL",
      help: "another address of the gateway to remove where no backup is left",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: ["longhaul disconnect", "longhaul disconnect codex --dry-run", "longhaul disconnect --mcp"],
  async run(context, { operands, options }) {
    const known = [...new Set([...CONNECTORS, ...HOOK_AGENTS])];
    return disconnectAgents(context, options, operands.length > 0 ? chooseAgents(operands, known) : known);
  },
});
