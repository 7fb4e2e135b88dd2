import { readVersion } from "../../base/package-files.ts";
import { type Environment, findMissingUpstreams, type LoadedConfig } from "../../gateway/config/index.ts";
import { type AgentLines, buildAgentLines } from "../../gateway/index.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { padText } from "../width.ts";

/** A gateway that has started listening. */
interface GatewayFacts {
  readonly url: string;
  readonly store: string;
  readonly loaded: LoadedConfig;
  readonly env: Environment;
  /** Titles of the agents on this computer. */
  readonly found: readonly string[];
  /** True if the gateway admits nobody without a token. */
  readonly needsToken: boolean;
}

/** Builds the greeting: address, lines to paste into agents, upstreams and settings. */
export function renderGreeting(listening: GatewayFacts, paint: Paint, isQuiet: boolean): readonly string[] {
  const { url, store } = listening;
  const first = `longhaul ${readVersion()} listens on ${paint("bold", url)}`;
  if (isQuiet) return [first];
  return [
    `${first}, store ${escapeLine(store)}`,
    "",
    'Point an agent here ("longhaul connect" writes this for the agents on this computer):',
    ...renderAgents(listening, paint),
    "",
    "Requests go to:",
    ...renderUpstreams(listening, paint),
    "",
    ...renderSettings(listening),
    `Status, recall and import: ${paint("bold", `${url}/`)}   Press Ctrl-C to stop.`,
  ];
}

/** Builds the greeting as JSON. */
export function toGreetingJson(listening: GatewayFacts): object {
  const { url, store, loaded, env } = listening;
  const { config, path, project, warnings } = loaded;
  const { policy, dryRun, threshold, control, recall, redact } = config;
  return {
    type: "listening",
    version: readVersion(),
    url,
    store,
    config: path ?? null,
    project: project.path ?? null,
    settings: { policy, dryRun, threshold, control, recall, redact },
    upstreams: config.upstreams.map(({ name, baseUrl, apis, keyEnv }) => ({
      name,
      baseUrl,
      apis,
      keyEnv,
      hasKey: hasKey(keyEnv, env),
    })),
    missing: findMissingUpstreams(config, env),
    agents: orderAgents(listening),
    warnings: [...project.notices, ...warnings],
  };
}

/** The agents on this computer come first. */
function orderAgents({
  url,
  needsToken,
  found,
}: GatewayFacts): readonly (AgentLines & { isFound: boolean })[] {
  const agents = buildAgentLines({ url, needsToken });
  return agents
    .map((one) => ({ ...one, isFound: found.includes(one.agent) }))
    .sort((one, other) => Number(other.isFound) - Number(one.isFound));
}

function renderAgents(listening: GatewayFacts, paint: Paint): readonly string[] {
  return orderAgents(listening).flatMap(({ agent, place, lines, isFound }) => {
    const [first = "", ...rest] = lines.split("\n");
    const name = paint(isFound ? "green" : "cyan", padText(agent, 12));
    if (rest.length === 0 && place === "shell") return [`  ${name} ${first}`];
    return [`  ${name} ${paint("dim", place)}`, ...[first, ...rest].map((line) => `    ${line}`)];
  });
}

function renderUpstreams({ loaded: { config }, env }: GatewayFacts, paint: Paint): readonly string[] {
  const width = Math.max(...config.upstreams.map(({ name }) => name.length));
  const lines = config.upstreams.map(({ name, baseUrl, prefix, models, keyEnv }) => {
    const which = [prefix && `${prefix}…`, ...(models ?? [])].filter(Boolean).join(", ");
    const key = hasKey(keyEnv, env)
      ? `key from ${keyEnv}`
      : `the agent's own key${keyEnv === undefined ? "" : `, or ${keyEnv}`}`;
    return `  ${paint("cyan", padText(escapeLine(name), width))} ${escapeLine(baseUrl)}${which && ` for ${escapeLine(which)}`} ${paint("dim", `(${escapeLine(key)})`)}`;
  });
  const missing = findMissingUpstreams(config, env).filter(
    ({ name }) => !config.upstreams.some((one) => one.name === name),
  );
  const words = missing.map(({ name, variable }) => `${variable} for ${name}`).join(", ");
  return [...lines, ...(words === "" ? [] : [paint("dim", `  for more, set ${words}`)])];
}

const RECALL_WORDS = { off: "", "after-edit": "after the first edit", always: "always" } as const;

function renderSettings({ loaded: { config, path, project }, needsToken }: GatewayFacts): readonly string[] {
  const { policy, dryRun, threshold, control, when, recall, redact, tokens } = config;
  const moment = when === "late" ? `from ${threshold}% on` : `when that pays, at the latest at ${threshold}%`;
  // Other policies remove words of the conversation too.
  const removal =
    policy === "longhaul"
      ? `removes tool output, files and images ${moment}, words only when the window is full`
      : `edits a window ${moment}`;
  const edits =
    policy === "none"
      ? "Requests pass through unchanged"
      : `Policy ${policy} ${removal}${dryRun ? " (dry run: nothing is changed)" : ""}`;
  const recalled = [
    recall.tools !== "off" && `tools ${RECALL_WORDS[recall.tools]}`,
    recall.context && "context",
  ]
    .filter(Boolean)
    .join(" and ");
  const more = [
    ...(control > 0 ? [`control group of ${Math.round(100 * control)}% of new conversations`] : []),
    `recall ${recalled || "off"}`,
    `redaction ${redact ? "on" : "off"}`,
    tokens.length > 0
      ? `tokens: ${tokens.map(({ name }) => escapeLine(name)).join(", ")}`
      : needsToken
        ? "people of the store"
        : "no token required",
  ];
  return [
    `${edits}; ${more.join(", ")}.`,
    ...[path, project.path].flatMap((one) =>
      one === undefined ? [] : [`Settings from ${escapeLine(one)}.`],
    ),
  ];
}

function hasKey(keyEnv: string | undefined, env: Environment): boolean {
  return keyEnv !== undefined && Boolean(env[keyEnv]);
}
