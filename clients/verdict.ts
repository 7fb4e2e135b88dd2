import { brokenRules, hasAnswersInARow } from "../test/support/provider-rules/message-order.ts";
import { withoutColours } from "./agents/agent.ts";
import { countEdited, differences } from "./identity.ts";
import type { Scenario } from "./scenario.ts";
import type { Trial } from "./trial.ts";
import { PROMPTS } from "./upstream/answer.ts";

const LONGEST_REASON = 200;
/** Maximum requests to an upstream that refuses all of them. */
const MAX_REFUSED_REQUESTS = 20;

/** Assessment of an agent's runs through one scenario. */
export interface Verdict {
  readonly isFine: boolean;
  readonly problems: readonly string[];
  /** Remarks that are not problems. */
  readonly notes: readonly string[];
}

/** Compares an agent's runs through the gateway with its direct run. */
export function judge(scenario: Scenario, direct: Trial, through: readonly Trial[]): Verdict {
  const problems: string[] = [];
  const notes: string[] = [];
  for (const trial of through) {
    const say = (words: string) => `${trial.way}: ${words}`;
    problems.push(...outcomeProblems(scenario, direct, trial).map(say), ...ruleProblems(trial).map(say));
    if (trial.way === "none") problems.push(...differences(trial.sent, trial.seen).map(say));
    problems.push(...unexpectedIn(trial.log).map(say));
    const mains = trial.threads.filter(({ kind }) => kind === "main").length;
    if (mains !== 1 && !(mains === 2 && isInterrupted(scenario) && isForgotten(trial)))
      problems.push(say(`${mains} main threads in the store`));
    const refused = countRefusedReasoning(trial) - countRefusedReasoning(direct);
    if (refused > 0) problems.push(say(`${refused} requests refused because reasoning no longer fits`));
    const overflows = trial.sent.filter(({ error }) => error !== undefined && isOverflow(error)).length;
    const isEndless = scenario.refusedFrom !== undefined || scenario.refusedResults !== undefined;
    const healed = trial.seen.filter(({ fault }) => fault === "overflow").length - overflows;
    if (isEndless)
      problems.push(...endlessProblems(trial, direct.seen.length + Math.max(healed, 0)).map(say));
    if (scenario.refusedResults !== undefined && overflows === 0)
      problems.push(say("the provider's error did not reach the agent"));
    if (!isEndless && overflows > 0 && trial.way !== "none")
      problems.push(say(`${overflows} overflows reached the agent`));
    if (healed > 0) notes.push(say(`${healed} overflows healed`));
    const more = trial.seen.length - Math.max(healed, 0) - direct.seen.length;
    if (more > 0 && isRight(direct)) notes.push(say(`${more} requests more than directly`));
    const edited = countEdited(trial.sent, trial.seen);
    if (edited > 0) notes.push(say(`${edited} requests edited`));
    const rows = trial.seen.filter(({ body }) => hasAnswersInARow(body)).length;
    if (rows > trial.sent.filter(({ body }) => hasAnswersInARow(body)).length)
      notes.push(say(`${rows} requests have two answers in a row, which strict chat templates refuse`));
    if (isRight(trial) && !isRight(direct)) notes.push(say("the agent fails without the gateway"));
  }
  if (scenario.maxRequests !== undefined || scenario.refusedResults !== undefined)
    notes.push(...[direct, ...through].map((trial) => `${trial.way}: ${describeReads(scenario, trial)}`));
  if ((scenario.faults && !isInterrupted(scenario)) || scenario.readsWithRoom || scenario.window)
    notes.push(`direct: ${isRight(direct) ? "the agent helps itself" : failureOf(direct)}`);
  return { isFine: problems.length === 0, problems, notes };
}

/** Whether every turn succeeded with the right answer. */
export function isRight({ turns }: Trial): boolean {
  return turns.length > 0 && turns.every((turn) => turn.isRight);
}

/** Requests that the upstream refused because the messages before their reasoning had changed. */
function countRefusedReasoning({ seen }: Trial): number {
  return seen.filter(({ fault }) => fault === "reasoning").length;
}

/** Why a run failed, in the agent's own words if available. */
export function failureOf({ turns }: Trial): string {
  const failed = turns.find((turn) => !turn.isRight);
  if (!failed) return "nothing failed";
  if (failed.isTimedOut) return "it did not end in time";
  const lines = withoutColours(`${failed.stderr}\n${failed.stdout}`)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const line = lines.findLast((one) => /error|fail/i.test(one)) ?? lines.at(-1) ?? "it said nothing";
  const words = /"(?:message|result|text)":\s*"((?:[^"\\]|\\.)+)"/.exec(line)?.[1] ?? line.trim();
  return `exit code ${failed.exitCode}: ${words.slice(0, LONGEST_REASON)}`;
}

/** An upstream that refuses everything must not keep an agent running forever, unless the agent goes on by itself. */
function endlessProblems({ turns, seen }: Trial, ownRequests: number): readonly string[] {
  const most = Math.max(MAX_REFUSED_REQUESTS, ownRequests);
  const problems = seen.length > most ? [`${seen.length} requests reached the upstream`] : [];
  return turns.some(({ isTimedOut }) => isTimedOut) ? [...problems, "the agent did not end"] : problems;
}

/** The outcome must equal that of the direct run, or be better. */
function outcomeProblems(scenario: Scenario, direct: Trial, trial: Trial): readonly string[] {
  if (isInterrupted(scenario)) return afterInterruption(direct, trial);
  if (scenario.maxRequests !== undefined) return longTurnProblems(scenario, direct, trial);
  if (!isRight(direct)) return [];
  if (!isRight(trial)) return [failureOf(trial)];
  return trial.turns.flatMap(({ answer, exitCode }, index) => {
    const other = direct.turns[index];
    if (other?.answer !== answer)
      return [`turn ${index + 1} answered "${answer}" instead of "${other?.answer}"`];
    return other.exitCode === exitCode ? [] : [`turn ${index + 1} ended with exit code ${exitCode}`];
  });
}

/**
 * A turn that is longer than the window must end with the right answer, within so many requests. An agent that ends
 * wrongly though it read all files and no request was refused, because it drops their contents itself, must end as it
 * does directly.
 */
function longTurnProblems(
  { files, maxRequests = 0 }: Scenario,
  direct: Trial,
  trial: Trial,
): readonly string[] {
  const requests = trial.seen.filter(({ api }) => api !== undefined).length;
  const endings = [direct, trial].map(({ turns, seen }) => {
    const isWhole = files.every((file) => seen.some(({ reads }) => reads.includes(file)));
    const isRefused = seen.some(({ fault }) => fault !== undefined);
    return isWhole && !isRefused
      ? JSON.stringify(turns.map(({ exitCode, answer }) => [exitCode, answer]))
      : undefined;
  });
  const isOwn = endings[0] !== undefined && endings[0] === endings[1];
  return [
    ...(isRight(trial) || isOwn ? [] : [failureOf(trial)]),
    ...(requests > maxRequests ? [`${requests} requests; at most ${maxRequests} are needed`] : []),
  ];
}

/** How often each file was read. */
function describeReads({ files }: Scenario, { seen }: Trial): string {
  const counts = files.map((file) => seen.filter(({ reads }) => reads.includes(file)).length);
  return `${seen.filter(({ api }) => api !== undefined).length} requests, reads of each file ${counts.join(" ")}`;
}

/** An interrupted turn must end in the same way, and the next one must be equally right. */
function afterInterruption(direct: Trial, trial: Trial): readonly string[] {
  return trial.turns.flatMap((turn, index) => {
    const other = direct.turns[index];
    if (other?.exitCode !== turn.exitCode)
      return [`turn ${index + 1} ended with exit code ${turn.exitCode} instead of ${other?.exitCode}`];
    return other.isRight && !turn.isRight ? [failureOf({ ...trial, turns: [turn] })] : [];
  });
}

function isInterrupted({ faults = {} }: Scenario): boolean {
  return Object.values(faults).includes("stall");
}

/** Only rule violations introduced by the gateway count, not the agent's own. */
function ruleProblems({ sent, seen }: Trial): readonly string[] {
  return seen.flatMap(({ api, body }, index) => {
    if (api === undefined || sent.some((request) => request.body.equals(body))) return [];
    return brokenRules(api, body).map((rule) => `request ${index + 1} to the upstream: ${rule}`);
  });
}

function isOverflow(error: string): boolean {
  return /prompt is too long|context_length_exceeded|input token count/.test(error);
}

/** Whether the agent itself omits the first turn from its second. */
function isForgotten({ sent }: Trial): boolean {
  const [first, second] = PROMPTS;
  return sent.some(({ body }) => body.includes(second) && !body.includes(first));
}

/** Unexpected errors logged by the gateway, without duplicates. */
function unexpectedIn(log: string): readonly string[] {
  const lines = log.split("\n").filter((line) => line.includes('"event":"unexpected"'));
  const messages = lines.map((line) => /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line);
  return [...new Set(messages.map((message) => `the gateway logged ${message.slice(0, LONGEST_REASON)}`))];
}
