import { isLonghaulError } from "../../kernel/index.ts";
import type { GatewayAddress } from "../../server/gateway/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import {
  describeStoreVariables,
  getEnvironmentPath,
  listStoreVariables,
  writeStoreVariables,
} from "../store-environment.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { type Paint, plainPaint } from "../terminal/paint.ts";
import { printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";
import type { AgentConnector } from "./agents/agent-connector.ts";
import { findGatewayAddress, isGatewayUp } from "./gateway-address.ts";
import { skillConnector, toHookConnector } from "./hook-connectors.ts";
import { toMcpConnector, toStdioAddress } from "./mcp/mcp-connectors.ts";
import { findStdioServer } from "./mcp/stdio-server.ts";
import { type ConnectionPlan, carryOutConnection, planConnection } from "./plan-connection.ts";
import { renderChange, shortenHome } from "./render-change.ts";

/** Options of `connect`. */
interface ConnectValues extends CommonValues {
  readonly url?: string;
  readonly yes?: boolean;
  readonly "dry-run"?: boolean;
  readonly mcp?: boolean;
  readonly hooks?: boolean;
}

/** The address to write, and the connectors that write it. */
interface ConnectionTarget {
  readonly gateway: GatewayAddress;
  readonly connectors: readonly AgentConnector[];
  /** False if agents start the server themselves. */
  readonly needsGateway: boolean;
}

type FileChange = ConnectionPlan & { state: "change" };

/** Result for one agent, after the change was written or not. */
type ConnectState = ConnectionPlan["state"] | "connected" | "planned";

/** Shows the change to each agent's file, asks, and writes it. */
export async function connectAgents(
  context: CliContext,
  options: ConnectValues,
  agents: readonly AgentConnector[],
): Promise<number> {
  const { gateway, connectors, needsGateway } = await findTarget(context, options, agents);
  const store = getStorePath(context, options);
  const setting = { gateway, place: context, store, now: Date.now() };
  const plans = connectors.map((connector) => planConnection(connector, setting));
  const changes = plans.filter((plan): plan is FileChange => plan.state === "change");
  const say = async (lines: readonly string[]) => {
    if (!options.json && lines.length > 0) await printTo(context.stdout, `${lines.join("\n")}\n`);
  };
  const paint = choosePaint(context, options);
  await say(plans.flatMap((plan) => [...renderPlan(plan, context.home, paint), ""]));
  const variables =
    (options.mcp || options.hooks) && !needsGateway ? listStoreVariables(context, options) : {};
  const kept = changes.length > 0 ? describeStoreVariables(variables, getEnvironmentPath(store)) : [];
  await say(kept.map(escapeLine));

  const isDryRun = options["dry-run"] === true;
  if (changes.length > 0 && !isDryRun && !options.yes) {
    const canAsk = context.isTerminal.stdin && context.isTerminal.stdout && !options.json;
    if (!canAsk)
      throw new UsageError(
        "nothing was changed, because there is no terminal to ask on; --yes writes the changes, --dry-run shows them",
      );
    const files = changes.length === 1 ? "this change" : `these ${changes.length} changes`;
    if (!(await askYesNo(context, `Write ${files}?`))) {
      await say(["Nothing was changed."]);
      return EXIT.fine;
    }
  }

  const failures = new Map<ConnectionPlan, string>();
  if (!isDryRun && changes.length > 0) writeStoreVariables(variables, getEnvironmentPath(store));
  if (!isDryRun)
    for (const plan of changes) {
      try {
        carryOutConnection(plan, store);
      } catch (error) {
        failures.set(plan, describeWriteError(error));
      }
    }
  const isUp = !needsGateway || (await isGatewayUp(gateway.url));
  const stateOf = (plan: ConnectionPlan): ConnectState =>
    plan.state !== "change"
      ? plan.state
      : failures.has(plan)
        ? "refused"
        : isDryRun
          ? "planned"
          : "connected";
  if (options.json) {
    const json = plans.map((plan) => toPlanJson(plan, stateOf(plan), failures.get(plan)));
    await printJson(context, { ...(needsGateway && { url: gateway.url, isRunning: isUp }), agents: json });
  } else if (!options.quiet) {
    const connected = plans.filter((plan) => stateOf(plan) === "connected");
    for (const [plan, reason] of failures)
      await say([`${plan.connector.title} was not connected: ${reason}`]);
    await say(renderEnd(connected, { isDryRun, changes: changes.length, isUp, url: gateway.url }));
    if (options.hooks && !needsGateway && connected.length > 0)
      await say([
        'The first hook starts a server in the background, which ends after 30 minutes without one; "longhaul service install" keeps one running.',
      ]);
  }
  return plans.some((plan) => stateOf(plan) === "refused") ? EXIT.incomplete : EXIT.fine;
}

async function findTarget(
  context: CliContext,
  options: ConnectValues,
  agents: readonly AgentConnector[],
): Promise<ConnectionTarget> {
  if (!options.mcp && !options.hooks)
    return {
      gateway: await findGatewayAddress(context, options),
      connectors: agents,
      needsGateway: true,
    };
  const server = findStdioServer(context, options);
  const needsGateway = options.url !== undefined;
  return {
    gateway: needsGateway ? await findGatewayAddress(context, options) : toStdioAddress(server),
    connectors: [
      ...(options.hooks ? [...agents.map((agent) => toHookConnector(agent, server)), skillConnector] : []),
      ...(options.mcp ? agents.map((agent) => toMcpConnector(agent, server)) : []),
    ],
    needsGateway,
  };
}

function renderPlan(plan: ConnectionPlan, home: string, paint: Paint): readonly string[] {
  const title = paint("bold", plan.connector.title);
  switch (plan.state) {
    case "change": {
      const { file, text, notes } = plan;
      const made = file.bytes ? "" : " (new file)";
      return [
        `${title}  ${escapeLine(shortenHome(file.path, home))}${made}`,
        ...renderChange(file.text, text, paint),
        ...notes.map((note) => `  ${escapeLine(note)}`),
      ];
    }
    case "unchanged":
      return [`${title}  ${escapeLine(shortenHome(plan.file.path, home))}: already connected`];
    case "manual":
      return [`${title}: only you can set this. ${escapeLine(plan.instructions)}`];
    case "unsupported":
      return [`${title} cannot be connected. ${plan.reason}`];
    case "refused":
      return [
        `${title}  ${escapeLine(shortenHome(plan.path, home))}: left as it is, because ${escapeLine(plan.reason)}`,
      ];
  }
}

function renderEnd(
  connected: readonly ConnectionPlan[],
  end: { readonly isDryRun: boolean; readonly changes: number; readonly isUp: boolean; readonly url: string },
): readonly string[] {
  if (end.isDryRun) return ["Dry run: nothing was changed."];
  if (connected.length === 0) return end.changes === 0 ? ["Nothing to change."] : [];
  const names = connected.map(({ connector }) => connector.title).join(", ");
  const lines = [`Connected: ${names}. "longhaul disconnect" restores the files. Restart running agents.`];
  if (end.isUp) return lines;
  return [
    ...lines,
    `No gateway answers at ${end.url} yet: start it with "longhaul serve", or for good with "longhaul service install". Until then these agents report a refused connection.`,
  ];
}

function toPlanJson(plan: ConnectionPlan, state: ConnectState, failure: string | undefined): object {
  const { name, title } = plan.connector;
  const base = { name, title, state };
  if (plan.state === "change") {
    const diff = renderChange(plan.file.text, plan.text, plainPaint).map((line) => line.slice(4));
    const reason = failure === undefined ? {} : { reason: failure };
    return { ...base, path: plan.file.path, isNew: !plan.file.bytes, diff, notes: plan.notes, ...reason };
  }
  if (plan.state === "unchanged") return { ...base, path: plan.file.path };
  if (plan.state === "manual") return { ...base, instructions: plan.instructions };
  if (plan.state === "refused") return { ...base, path: plan.path, reason: plan.reason };
  return { ...base, reason: plan.reason };
}

/** The reason of a failed write; throws errors that the file did not cause. */
export function describeWriteError(error: unknown): string {
  if (isLonghaulError(error, "AGENT_FILE_REFUSED")) return String(error.details.reason);
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return message;
}
