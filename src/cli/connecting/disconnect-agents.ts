import { join } from "node:path";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { type Paint, plainPaint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import type { AgentConnector } from "./agents/agent-connector.ts";
import { describeWriteError } from "./connect-agents.ts";
import { listGatewayUrls } from "./gateway-address.ts";
import { skillConnector, toHookConnector } from "./hook-connectors.ts";
import { toMcpConnector } from "./mcp/mcp-connectors.ts";
import { findStdioServer } from "./mcp/stdio-server.ts";
import { carryOutDisconnection, type DisconnectionPlan, planDisconnection } from "./plan-disconnection.ts";
import { renderChange, shortenHome } from "./render-change.ts";

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

/** Restores the files of agents; needs neither a gateway nor a store. */
export async function disconnectAgents(
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
    ...(reason !== undefined && { reason }),
  };
}
