import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Agent, ApiName } from "./agents/agent.ts";
import { AGENTS } from "./agents/index.ts";
import { GatewayDown } from "./gateway.ts";
import { cacheFolder, ensureInstalled } from "./install.ts";
import { type Missing, missingLine, type Row, rowJson, tableHead, tableLines } from "./report.ts";
import { SCENARIOS, type Scenario } from "./scenario.ts";
import { type Trial, tryOut, type Way } from "./trial.ts";
import { failureOf, isRight, judge } from "./verdict.ts";

const USAGE = `npm run clients -- [--only NAME,...] [--api NAME] [--scenario NAME,...] [--json] [--keep]

Runs real agents against a scripted model on loopback, directly and through the gateway, and compares.

  --only      these agents: ${AGENTS.map(({ name }) => name).join(", ")}
  --api       only on this API: anthropic, openai-chat, openai-responses, google
  --scenario  these scenarios:
${SCENARIOS.map(({ name, about }) => `                ${name.padEnd(11)} ${about}`).join("\n")}
  --json      one JSON object a line instead of a table
  --keep      keep homes, stores, requests and logs of all runs, and say where
  --help      this text

Agents are installed on first use into ${cacheFolder().replace(process.env.HOME ?? "\0", "~")} (LONGHAUL_CLIENTS names another folder).
Beside each outcome: exit codes, and how many requests the upstream got.`;

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

// Agents and gateways end with this process.
for (const [signal, number] of Object.entries(SIGNALS))
  process.once(signal, () => process.exit(128 + number));
const options = readOptions();
if (options) process.exitCode = await main(options);

type Options = NonNullable<ReturnType<typeof readOptions>>;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        api: { type: "string" },
        scenario: { type: "string" },
        json: { type: "boolean" },
        keep: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return undefined;
    }
    return {
      ...values,
      agents: chosen(AGENTS, values.only, "agent"),
      scenarios: chosen(SCENARIOS, values.scenario, "scenario"),
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  names: string | undefined,
  what: string,
) {
  if (names === undefined) return all;
  return names.split(",").map((name) => {
    const found = all.find((one) => one.name === name);
    if (!found) throw new Error(`There is no ${what} "${name}".`);
    return found;
  });
}

async function main({ agents, scenarios, api, json, keep }: Options): Promise<number> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "longhaul-clients-")));
  const print = (table: string, object: object) =>
    process.stdout.write(`${json ? JSON.stringify(object) : table}\n`);
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  let fails = 0;
  let tried = 0;
  if (!json) process.stdout.write(`${tableHead()}\n`);
  for (const agent of agents) {
    for (const spoken of agent.apis.filter((one) => api === undefined || one === api)) {
      for await (const row of rowsOf(agent, spoken, scenarios, root, keep === true, onProgress)) {
        const isMissing = "reason" in row;
        if (isMissing) print(missingLine(row), row);
        else print(tableLines(row), rowJson(row));
        if (!isMissing || row.isFault) tried += 1;
        if (isMissing ? row.isFault : !row.verdict.isFine) fails += 1;
      }
    }
  }
  if (keep) onProgress(`Everything is kept in ${root}`);
  else await rm(root, { recursive: true, force: true, maxRetries: 3 });
  if (!json) process.stdout.write(`\n${tried - fails} of ${tried} fine.\n`);
  return fails > 0 || tried === 0 ? 1 : 0;
}

async function* rowsOf(
  agent: Agent,
  api: ApiName,
  scenarios: readonly Scenario[],
  root: string,
  isKept: boolean,
  onProgress: (line: string) => void,
): AsyncGenerator<Row | Missing> {
  const { name: client, version } = agent;
  try {
    const installed = await ensureInstalled(agent, onProgress);
    for (const scenario of scenarios) {
      const ways: readonly Way[] =
        scenario.name === "normal" ? ["direct", "none", "longhaul"] : ["direct", "longhaul"];
      const trials: Trial[] = [];
      for (const way of ways) {
        const kept = isKept ? join(root, `${client}-${api}-${scenario.name}-${way}`) : undefined;
        const trial = await tryOut({ agent, api, scenario, installed }, way, join(root, "trial"), kept);
        trials.push(trial);
        // An agent that fails without the gateway is no evidence about the gateway.
        if (way === "direct" && scenario.name === "normal" && !isRight(trial))
          throw new Error(`it does not work here: ${failureOf(trial)}`);
      }
      const [direct, ...through] = trials as [Trial, ...Trial[]];
      yield {
        client,
        version,
        api,
        scenario: scenario.name,
        trials,
        verdict: judge(scenario, direct, through),
      };
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield { client, version, api, reason, isFault: error instanceof GatewayDown };
  }
}
