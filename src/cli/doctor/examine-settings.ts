import { existsSync, readFileSync } from "node:fs";
import { isLonghaulError } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { CONNECTORS } from "../connecting/agents/connectors.ts";
import { listConnections } from "../connecting/connection-record.ts";
import { findGatewayAddress, isGatewayUp } from "../connecting/gateway-address.ts";
import { nearestWords } from "../nearest-words.ts";
import { getStorePath } from "../open-store.ts";
import type { Finding } from "./finding.ts";

/** Variables that this version reads; upstreams have a variable each. */
const VARIABLES = [
  "LONGHAUL_HOME",
  "LONGHAUL_BLOBS",
  "LONGHAUL_STORE",
  "LONGHAUL_CONFIG",
  "LONGHAUL_TOKEN",
  "LONGHAUL_UPSTREAM",
  "LONGHAUL_HOST",
  "LONGHAUL_PORT",
  "LONGHAUL_POLICY",
  "LONGHAUL_DRY_RUN",
  "LONGHAUL_THRESHOLD",
  "LONGHAUL_WHEN",
  "LONGHAUL_RECALL",
  "LONGHAUL_REDACT",
  "LONGHAUL_LOG",
];
/** Prefixes of variables of other purposes: upstreams, tests, tasks. */
const OTHER_VARIABLES = /^LONGHAUL_(?:UPSTREAM_|TASK|SOAK|PROOF|SEED|WORKERS|TOKEN_)/;

/** Checks the configuration file, the trusted project files and the variables. */
export async function examineConfiguration(
  context: CliContext,
  options: CommonValues,
): Promise<readonly Finding[]> {
  const { findUserFolder, getTrustState, listTrusted, loadConfig } = await import(
    "../../gateway/config/index.ts"
  );
  const { cwd, home, env } = context;
  const store = getStorePath(context, options);
  const findings: Finding[] = [];
  try {
    const { path, warnings, project } = loadConfig({ cwd, home, env, store, flags: {} });
    for (const text of [...warnings, ...project.notices])
      findings.push({ area: "configuration", level: "warning", text, remedy: "see the message" });
    const folder = findUserFolder({ cwd, home, store }) ?? store;
    for (const file of listTrusted(folder).filter((one) => getTrustState(one) === "changed"))
      findings.push({
        area: "configuration",
        level: "warning",
        text: `${file.path} has changed since you trusted it, so it has no effect`,
        remedy: `"longhaul trust ${file.path}" after you have read it, or "longhaul trust --remove ${file.path}"`,
      });
    if (findings.length === 0)
      findings.push({
        area: "configuration",
        level: "ok",
        text: path === undefined ? "defaults; no file" : `${path} is valid`,
      });
  } catch (error) {
    if (!isLonghaulError(error, "CONFIG_INVALID")) throw error;
    findings.push({
      area: "configuration",
      level: "problem",
      text: error.message,
      remedy: '"longhaul config path" names the file; "longhaul config schema" its keys',
    });
  }
  return [...findings, ...examineVariables(env)];
}

function examineVariables(env: CliContext["env"]): readonly Finding[] {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("LONGHAUL_") && !VARIABLES.includes(name) && !OTHER_VARIABLES.test(name),
  );
  return unknown.map((name) => {
    const [nearest] = nearestWords(name, VARIABLES);
    const remedy = nearest === undefined ? "unset it" : `did you mean ${nearest}?`;
    return { area: "configuration", level: "warning", text: `${name} is set, but nothing reads it`, remedy };
  });
}

/** Features that a connected agent changes by itself, each with the way to get it back. */
function listChangedFeatures(agent: string, fileText: string): readonly Finding[] {
  const connector = CONNECTORS.find(({ name }) => name === agent);
  return (connector?.listFeatureChanges?.(fileText) ?? []).map(({ feature, remedy }) => ({
    area: "agents",
    level: "ok",
    text: `${agent}: ${feature}; ${remedy}`,
  }));
}

/** Checks whether the gateway answers, and whether connected agents still point at it. */
export async function examineAgents(context: CliContext, options: CommonValues): Promise<readonly Finding[]> {
  const store = getStorePath(context, options);
  const records = listConnections(store);
  const url = await findGatewayAddress(context, options).then(
    (address) => address.url,
    () => undefined,
  );
  const isUp = url !== undefined && (await isGatewayUp(url));
  const findings: Finding[] = [
    {
      area: "gateway",
      level: "ok",
      text: isUp
        ? `answers at ${url}`
        : `does not run at ${url ?? "its address"}; "longhaul serve" starts it`,
    },
  ];
  const answers = new Map<string, boolean>();
  for (const { agent, path, url: used } of records) {
    const answersThere = answers.get(used) ?? (await isGatewayUp(used));
    answers.set(used, answersThere);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (!text.includes(used))
      findings.push({
        area: "agents",
        level: "warning",
        text: `${agent} was connected, but ${path} no longer names ${used}`,
        remedy: `"longhaul connect ${agent}" connects it again, "longhaul disconnect ${agent}" forgets the connection`,
      });
    else if (!answersThere)
      findings.push({
        area: "agents",
        level: "problem",
        text: `${agent} sends its requests to ${used}, where no gateway answers`,
        remedy: `"longhaul serve" or "longhaul service install" starts it, "longhaul disconnect ${agent}" restores the agent's file`,
      });
    else findings.push({ area: "agents", level: "ok", text: `${agent} uses the gateway` });
    findings.push(...listChangedFeatures(agent, text));
  }
  if (records.length === 0) findings.push({ area: "agents", level: "ok", text: "none connected" });
  return findings;
}
