import type { Trial } from "./trial.ts";
import { isRight, type Verdict } from "./verdict.ts";

/** One line of the table: an agent on an API in a scenario. */
export interface Row {
  readonly client: string;
  readonly version: string;
  readonly api: string;
  readonly scenario: string;
  readonly trials: readonly Trial[];
  readonly verdict: Verdict;
}

/** A scenario that could not be tried, with the reason. */
export interface Missing {
  readonly client: string;
  readonly version: string;
  readonly api: string;
  readonly reason: string;
  /** True if the gateway was the cause. */
  readonly isFault: boolean;
}

const COLUMNS = [
  { title: "client", width: 12 },
  { title: "version", width: 8 },
  { title: "api", width: 16 },
  { title: "scenario", width: 10 },
  { title: "direct", width: 16 },
  { title: "policy none", width: 16 },
  { title: "policy longhaul", width: 16 },
  { title: "main threads", width: 12 },
  { title: "verdict", width: 0 },
] as const;

/** The table header. */
export function tableHead(): string {
  return `${cells(COLUMNS.map(({ title }) => title))}\n${cells(COLUMNS.map(({ width }) => "─".repeat(width || 10)))}`;
}

/** A row, with its problems and notes below it. */
export function tableLines({ client, version, api, scenario, trials, verdict }: Row): string {
  const [direct, none, longhaul] = (["direct", "none", "longhaul"] as const).map((way) =>
    trials.find((trial) => trial.way === way),
  );
  const through = trials.filter(({ way }) => way !== "direct");
  const mains = through.map(({ threads }) => threads.filter(({ kind }) => kind === "main").length);
  const line = cells([
    client,
    version,
    api,
    scenario,
    outcome(direct),
    outcome(none),
    outcome(longhaul),
    mains.join(", "),
    verdict.isFine ? "fine" : "FAILS",
  ]);
  const words = [
    ...verdict.problems.map((problem) => `! ${problem}`),
    ...verdict.notes.map((note) => `· ${note}`),
  ];
  return [line, ...words.map((one) => `    ${one}`)].join("\n");
}

/** A row for a scenario that could not be tried. */
export function missingLine({ client, version, api, reason, isFault }: Missing): string {
  return `${cells([client, version, api])}  ${isFault ? "FAILS" : "not tried"}: ${reason}`;
}

/** A row as JSON for programs. */
export function rowJson({ trials, ...row }: Row): object {
  return {
    ...row,
    ways: trials.map(({ way, turns, sent, seen, threads }) => ({
      way,
      isRight: isRight({ way, turns, sent, seen, threads, log: "" }),
      turns: turns.map(({ exitCode, answer, durationMs }) => ({ exitCode, answer, durationMs })),
      sent: sent.map(({ method, url, body, status }) => ({ method, url, bytes: body.length, status })),
      seen: seen.map(({ method, url, body, purpose, fault }) => ({
        method,
        url,
        bytes: body.length,
        purpose,
        fault,
      })),
      threads,
    })),
  };
}

function outcome(trial: Trial | undefined): string {
  if (!trial) return "–";
  const codes = trial.turns.map(({ exitCode }) => exitCode ?? "killed");
  return `${isRight(trial) ? "right" : "wrong"} ${codes.join(",")} (${trial.seen.length})`;
}

function cells(texts: readonly string[]): string {
  return texts
    .map((text, index) => text.padEnd(COLUMNS[index]?.width ?? 0))
    .join("  ")
    .trimEnd();
}
