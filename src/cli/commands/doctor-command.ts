import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { connectToHooks } from "../../adapters/hooks/hook-place.ts";
import { isLonghaulError } from "../../kernel/index.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { CONNECTORS } from "../connecting/agents/connectors.ts";
import { listConnections } from "../connecting/connection-record.ts";
import { findGatewayAddress, isGatewayUp } from "../connecting/gateway-address.ts";
import { examineComputer } from "../doctor/examine-computer.ts";
import { AREAS, type Finding } from "../doctor/finding.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath, getStoreUrl, isStoreThere, nameStore, openExistingStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { nearestWords } from "../terminal/nearest-words.ts";
import { printLines } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { wrapText } from "../terminal/wrap-text.ts";

const ISSUE_FILE = "longhaul-issue.md";
const MARKS = { ok: ["green", "ok"], warning: ["yellow", "warning"], problem: ["red", "problem"] } as const;
const MARGIN = 24;

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

/** A finding and the repair that was made. */
interface TreatedFinding extends Finding {
  readonly fixed?: string;
}

/** Examines store, computer, configuration and connected agents. */
export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "examine the store, disk, configuration and connected agents",
  usage: ["doctor [--fix] [--deep] [--issue [--out FILE]]"],
  about:
    "Changes nothing without --fix. --fix makes the repairs that lose nothing: permissions, unreferenced files, overdue leases, tasks of dead processes, the index. Exits with code 3 if a problem remains; warnings alone exit with 0.",
  options: {
    fix: { type: "boolean", help: "make the repairs that lose nothing" },
    deep: { type: "boolean", help: "read every entry and every blob, as longhaul check does; may take long" },
    issue: {
      type: "boolean",
      help: "write a report for an issue, without secrets, names, paths of yours or conversations",
    },
    out: { type: "string", short: "o", value: "FILE", help: `file of the report (default: ${ISSUE_FILE})` },
  },
  maxOperands: 0,
  examples: [
    "longhaul doctor",
    "longhaul doctor --fix",
    "longhaul doctor --deep --json",
    "longhaul doctor --issue",
  ],
  async run(context, { options }) {
    const path = getStorePath(context, options);
    const isDatabase = getStoreUrl(context, options) !== undefined;
    const findings: Finding[] = [...(await examineComputer(path, isDatabase))];
    const treated: TreatedFinding[] = [];
    const treat = async (found: readonly Finding[]) => {
      for (const finding of found) {
        const { fix } = finding;
        treated.push(options.fix && fix ? { ...finding, fixed: await fix() } : finding);
      }
    };
    await treat(findings);
    await examineStorage(context, options, path, treat);
    await treat(await examineConfiguration(context, options));
    await treat(await examineAgents(context, options));
    treated.sort((one, other) => AREAS.indexOf(one.area) - AREAS.indexOf(other.area));
    const remaining = treated.filter(({ fixed }) => fixed === undefined);
    const problems = remaining.filter(({ level }) => level === "problem").length;
    const warnings = remaining.filter(({ level }) => level === "warning").length;
    const out = options.issue ? resolve(context.cwd, options.out ?? ISSUE_FILE) : undefined;
    if (out !== undefined) {
      const { buildIssueReport } = await import("../doctor/issue-report.ts");
      await writeFile(out, buildIssueReport(treated, context), { mode: 0o600 });
    }
    if (options.json) {
      const listed = treated.map(({ area, level, text, remedy, fix, fixed }) => ({
        area,
        level,
        text,
        remedy: remedy ?? null,
        isFixable: fix !== undefined,
        fixed: fixed ?? null,
      }));
      const report = {
        path: nameStore(context, options),
        problems,
        warnings,
        findings: listed,
        report: out ?? null,
      };
      await printTo(context.stdout, `${toSafeJson(report)}\n`);
    } else {
      const shown = options.quiet ? remaining.filter(({ level }) => level !== "ok") : treated;
      const lines = renderFindings(context, options, shown);
      if (!options.quiet) lines.push(...summarize(problems, warnings, remaining, out));
      await printLines(context, lines);
    }
    return problems === 0 ? EXIT.fine : EXIT.incomplete;
  },
});

/** Opens the store, examines it and closes it; a store that cannot be opened is a finding. */
async function examineStorage(
  context: CliContext,
  options: CommonValues & { readonly deep?: boolean },
  path: string,
  treat: (found: readonly Finding[]) => Promise<void>,
): Promise<void> {
  const { examineLocalHistories, judgeHistories } = await import("../histories/examine-local-histories.ts");
  if (!isStoreThere(context, options)) {
    await treat(judgeHistories(await examineLocalHistories(context, undefined)));
    return treat([{ area: "database", level: "ok", text: `there is no store at ${path} yet` }]);
  }
  const { examineStore } = await import("../doctor/examine-store.ts");
  try {
    await using kernel = await openExistingStore(context, options);
    const { signal } = context;
    await treat(await examineStore(kernel, { path, isDeep: options.deep === true, signal }));
    await treat(judgeHistories(await examineLocalHistories(context, kernel)));
  } catch (error) {
    if (!isLonghaulError(error) || error.code === "ABORTED") throw error;
    await treat([{ area: "database", level: "problem", text: error.message, remedy: "see the message" }]);
  }
}

function renderFindings(
  context: CliContext,
  options: CommonValues,
  findings: readonly TreatedFinding[],
): string[] {
  const paint = choosePaint(context, options);
  const width = Math.max(30, Math.min(context.columns.stdout, 140) - MARGIN);
  return findings.flatMap(({ area, level, text, remedy, fixed }) => {
    const [look, word] = fixed === undefined ? MARKS[level] : (["green", "fixed"] as const);
    const [first = "", ...more] = text.split("\n").flatMap((line) => wrapText(escapeLine(line), width));
    const after = fixed ?? (level === "ok" ? undefined : remedy);
    const hint = after === undefined ? [] : wrapText(escapeLine(`→ ${after}`), width);
    const head = `${paint(look, word.padEnd(8))} ${paint("dim", area.padEnd(14))} ${first}`;
    const margin = " ".repeat(MARGIN);
    return [head, ...more.map((line) => margin + line), ...hint.map((line) => margin + paint("dim", line))];
  });
}

function summarize(
  problems: number,
  warnings: number,
  remaining: readonly TreatedFinding[],
  out: string | undefined,
): readonly string[] {
  const isFixable = remaining.some(({ level, fix }) => level !== "ok" && fix !== undefined);
  return [
    problems + warnings === 0
      ? "All is well."
      : `${formatQuantity(problems, "problem")}, ${formatQuantity(warnings, "warning")}.${isFixable ? ' "longhaul doctor --fix" repairs some of them.' : ""}`,
    ...(out === undefined ? [] : [`Wrote ${escapeLine(out)}; read it before you send it.`]),
  ];
}

/** Checks the configuration file, the trusted project files and the variables. */
async function examineConfiguration(context: CliContext, options: CommonValues): Promise<readonly Finding[]> {
  const { findUserFolder, getTrustState, listTrusted, loadConfig } = await import(
    "../../server/gateway/config/index.ts"
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
async function examineAgents(context: CliContext, options: CommonValues): Promise<readonly Finding[]> {
  const store = getStorePath(context, options);
  const records = listConnections(store);
  const url = (await findGatewayAddress(context, options).catch(() => undefined))?.url;
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
  const hooks = await connectToHooks(resolve(store), context.env);
  hooks?.destroy();
  if (hooks && !isUp)
    findings.push({
      area: "gateway",
      level: "ok",
      text: "a process that a hook started answers hooks; it ends after 30 minutes without one, or when a gateway starts",
    });
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
