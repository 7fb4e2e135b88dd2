import { join } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import type { AgentConnector } from "../connecting/agents/agent-connector.ts";
import { CONNECTORS } from "../connecting/agents/connectors.ts";
import { connectAgents, describeWriteError } from "../connecting/connect-agents.ts";
import { findAgents } from "../connecting/find-agents.ts";
import { listGatewayUrls } from "../connecting/gateway-address.ts";
import { HOOK_AGENTS, skillConnector, toHookConnector } from "../connecting/hook-connectors.ts";
import { toMcpConnector } from "../connecting/mcp/mcp-connectors.ts";
import { findStdioServer } from "../connecting/mcp/stdio-server.ts";
import {
  carryOutDisconnection,
  type DisconnectionPlan,
  planDisconnection,
} from "../connecting/plan-disconnection.ts";
import { renderChange, shortenHome } from "../connecting/render-change.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { nearestWords } from "../terminal/nearest-words.ts";
import { type Paint, plainPaint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

/** Options of `disconnect`. */
interface DisconnectValues extends CommonValues {
  readonly url?: string;
  readonly "dry-run"?: boolean;
  readonly mcp?: boolean;
  readonly hooks?: boolean;
}

const STATES = {
  restore: "restored",
  remove: "removed",
  absent: "not connected",
  refused: "refused",
} as const;

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

/** The named agents; throws UsageError for an unknown name. */
function chooseAgents(
  names: readonly string[],
  agents: readonly AgentConnector[] = CONNECTORS,
): readonly AgentConnector[] {
  return [...new Set(names)].map((name) => {
    const wanted = simplifyName(name);
    const found = agents.find((one) => [one.name, one.title].map(simplifyName).includes(wanted));
    if (found) return found;
    const all = agents.map((one) => one.name);
    const [nearest] = nearestWords(name, all);
    const hint = nearest === undefined ? `known agents: ${all.join(", ")}` : `did you mean ${nearest}?`;
    throw new UsageError(`there is no agent ${JSON.stringify(name)}; ${hint}`);
  });
}

/** "Claude Code", "claude-code" and "claudecode" are one name. */
function simplifyName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Restores the files of agents; needs neither a gateway nor a store. */
async function disconnectAgents(
  context: CliContext,
  options: DisconnectValues,
  agents: readonly AgentConnector[],
): Promise<number> {
  const stores = [getStorePath(context, options), join(context.home, ".longhaul")];
  const urls = await listGatewayUrls(context, options);
  const server = findStdioServer(context, options);
  const setting = { place: context, stores, urls };
  const mcpSetting = { ...setting, urls: [server.program, ...urls] };
  const isDryRun = options["dry-run"] === true;
  const failures = new Map<DisconnectionPlan, string>();
  const plans: DisconnectionPlan[] = [];
  // One after the other: the gateway and the MCP server of an agent may be in one file.
  const isSkillKept = options.mcp === true && !options.hooks;
  const toHooks = (one: AgentConnector) => (one === skillConnector ? one : toHookConnector(one, server));
  for (const connector of isSkillKept ? agents : [...agents, skillConnector]) {
    const isAll = !options.mcp && !options.hooks;
    const own = [
      ...(isAll || options.hooks ? [{ connector: toHooks(connector), from: mcpSetting }] : []),
      ...((isAll || options.mcp) && connector !== skillConnector
        ? [{ connector: toMcpConnector(connector, server), from: mcpSetting }]
        : []),
      ...(isAll && connector !== skillConnector ? [{ connector, from: setting }] : []),
    ];
    for (const { connector: one, from } of own)
      for (const plan of planDisconnection(one, from)) {
        const isChange = plan.state === "restore" || plan.state === "remove";
        // Most agents have no MCP server of ours; a damaged file is reported by the gateway's own plan.
        if ((one !== connector || one === skillConnector) && !isChange && plan.records.length === 0) continue;
        plans.push(plan);
        try {
          if (!isDryRun) carryOutDisconnection(plan);
        } catch (error) {
          failures.set(plan, describeWriteError(error));
        }
      }
  }
  if (options.json) {
    const json = plans.map((plan) => toJson(plan, failures.get(plan), isDryRun));
    await printTo(context.stdout, `${toSafeJson({ agents: json })}\n`);
  } else {
    const paint = choosePaint(context, options);
    const lines = plans.flatMap((plan) =>
      renderOutcome(plan, failures.get(plan), { context, paint, isDryRun }),
    );
    const none = lines.length === 0 ? ["No agent is connected."] : [];
    const end = isDryRun ? ["Dry run: nothing was changed."] : [];
    if (!options.quiet) await printTo(context.stdout, `${[...lines, ...none, ...end].join("\n")}\n`);
  }
  const hasFailed = failures.size > 0 || plans.some(({ state }) => state === "refused");
  return hasFailed ? EXIT.incomplete : EXIT.fine;
}

function renderOutcome(
  plan: DisconnectionPlan,
  failure: string | undefined,
  show: { readonly context: CliContext; readonly paint: Paint; readonly isDryRun: boolean },
): readonly string[] {
  const { context, paint, isDryRun } = show;
  const heading = `${paint("bold", plan.connector.title)}  ${escapeLine(shortenHome(plan.path, context.home))}`;
  if (failure !== undefined) return [`${heading}: not restored: ${escapeLine(failure)}`];
  if (plan.state === "refused") return [`${heading}: left as it is, because ${escapeLine(plan.reason)}`];
  const notes = plan.notes.map((note) => `  ${escapeLine(note)}`);
  if (plan.state === "absent") return notes.length === 0 ? [] : [`${heading}: nothing to undo`, ...notes];
  const done = {
    restore:
      plan.content === undefined ? "removed again, as it was not there before" : "restored byte for byte",
    remove: "longhaul's settings removed",
  };
  const words = isDryRun ? `would be ${done[plan.state]}` : done[plan.state];
  const after = plan.content?.toString("utf8") ?? "";
  const change = isDryRun ? renderChange(plan.file.text, after, paint) : [];
  return [`${heading}: ${words}`, ...change, ...notes];
}

function toJson(plan: DisconnectionPlan, failure: string | undefined, isDryRun: boolean): object {
  const { connector, path, state } = plan;
  const reason = failure ?? (plan.state === "refused" ? plan.reason : undefined);
  const isChange = plan.state === "restore" || plan.state === "remove";
  const diff = isChange && {
    diff: renderChange(plan.file.text, plan.content?.toString("utf8") ?? "", plainPaint).map((line) =>
      line.slice(4),
    ),
  };
  return {
    name: connector.name,
    title: connector.title,
    path,
    state: failure !== undefined ? "refused" : isChange && isDryRun ? "planned" : STATES[state],
    ...diff,
    ...(plan.state !== "refused" && plan.notes.length > 0 && { notes: plan.notes }),
    ...dropUndefined({ reason }),
  };
}
