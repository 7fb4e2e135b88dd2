import { resolve } from "node:path";
import { readConversations } from "../../kernel/calls/project-conversations.ts";
import { renderWorkHit } from "../../kernel/calls/render-work.ts";
import { WORK_QUESTIONS, WorkHistory, type WorkQuestion } from "../../kernel/calls/work-history.ts";
import { describeLikelihood, findMatchedSentence, rankSessions } from "../../kernel/faces/memory.ts";
import type { Entry, Kernel, SessionHit, SessionId, SessionRecord } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findOrigin, type SessionOrigin } from "../../model/session-origin.ts";
import { getMemoryAgent } from "../../server/gateway/identity/index.ts";
import { type CommonValues, defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { formatEntryExcerpt } from "../context/format-entry-excerpt.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { buildMemoryFilter } from "../memory/parse-memory-options.ts";
import {
  type RecalledHit,
  type RecallResult,
  renderFurtherHits,
  renderHit,
  renderHitHeading,
  renderWork,
} from "../memory/render-hit.ts";
import { getStorePath, openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { writeListing } from "../sessions/session-listing.ts";
import { findSessionScope, PERSON_OPTION, type SessionScope } from "../sessions/session-scope.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printJson, printLines, printResult } from "../terminal/print-lines.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { catchUpIndexFor } from "./index-command.ts";

/** A question about work, as the command line names it. */
interface NamedQuestion {
  readonly question: WorkQuestion;
  readonly words: string;
}

/** Words after "how" in a plain question, such as "how do we deploy". */
const PLAIN =
  /^(?:do|does|did|is|are|was|were|can|could|should|would|will|to|many|much|long|often|old|far)$/i;
const FILE = /[\\/.]/;

const LIMIT = { otherwise: 10, max: 1_000 };
const WAIT = { otherwise: 10, max: 86_400 };
const EXCERPT_LINES = 4;

/** Hits of the same work to show, and lines of all but the first. */
const SHOWN_HITS = 3;
const FURTHER_LINES = 2;

/** Hits to rank sessions by, and to print of each. */
const SESSION_HITS = 200;
const HITS_OF_SESSION = 3;

const OPTIONS = {
  limit: { type: "string", short: "k", value: "N", help: `maximum hits (default: ${LIMIT.otherwise})` },
  session: {
    type: "string",
    multiple: true,
    value: "SESSION",
    help: "search only this session; repeatable",
  },
  prefix: {
    type: "string",
    value: "WORDS",
    help: "search only sessions whose id begins with these characters",
  },
  agent: { type: "string", value: "NAME", help: "search only the memories of this agent" },
  path: {
    type: "string",
    multiple: true,
    value: "PATH",
    help: "search only this file or folder; repeatable",
  },
  trust: {
    type: "string",
    value: "LEVEL",
    help: "find only memories with this trust or more: user, agent, quoted, rejected (default: quoted)",
  },
  outdated: { type: "boolean", help: "find memories outside their dates too" },
  active: { type: "boolean", help: "leave out other branches too, such as those of imported conversations" },
  rewound: { type: "boolean", help: "find messages that were rewound, replaced or removed too" },
  wait: {
    type: "string",
    value: "SECONDS",
    help: `maximum time to index new entries first (default: ${WAIT.otherwise})`,
  },
  careful: { type: "boolean", help: "has no effect; accepted for older scripts" },
  sessions: { type: "boolean", help: "list the sessions with the best hits instead of the hits" },
  expand: { type: "boolean", help: "print hits in full, with the entries around them" },
  ...PERSON_OPTION,
} as const;

type RecallValues = ParsedArguments<typeof OPTIONS>["options"];

/** The result of a recall, and the warnings that were printed. */
interface Outcome {
  readonly recalled: RecallResult;
  readonly warnings: readonly string[];
}

/** Searches sessions, memories and indexed files. */
export const recallCommand = defineCommand({
  name: "recall",
  summary: "search conversations and indexed files",
  usage: ["recall <question> [options]", "recall fix <error> | how <task> | why <file> [options]"],
  about:
    "Ask in plain words; there is no query syntax. New entries are indexed first, for at most --wait seconds. If sessions and paths are both given, both are searched. Hits of the same work stand together; a text that occurs again is shown once, with its other places. Three questions are about work: fix, the edits or commands after which an error did not come back; how, commands that succeeded for a task; why, the requests behind the last changes of a file.",
  options: OPTIONS,
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    'longhaul recall "which port does the staging server use?"',
    "longhaul recall retry policy --prefix claude-code/ -k 3 --expand",
    'longhaul recall "where are tokens validated" --path src --json',
    'longhaul recall "the login redirect" --sessions',
    'longhaul recall fix "cannot find module dotenv"',
  ],
  async run(context, { operands, options }) {
    const question = operands.join(" ").trim();
    if (options.sessions && options.expand)
      throw new UsageError("--sessions and --expand cannot be combined; show a session with longhaul show");
    if (options.sessions && options.path !== undefined)
      throw new UsageError("--sessions and --path cannot be combined");
    if (options.active && options.rewound) throw new UsageError("--active and --rewound cannot be combined");
    if (question === "") throw new UsageError("the question is missing: longhaul recall <question>");
    const k = parseCountOption("limit", options.limit, LIMIT);
    const work = findWorkQuestion(operands);
    if (work) {
      await using store = await openExistingStore(context, options);
      const scope = await findSessionScope(store, context, options);
      return await answerAboutWork(context, options, { kernel: store, ...work, k, scope });
    }
    const memories = buildMemoryFilter(options.trust, options.outdated === true);
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    await using kernel = await openExistingStore(context, options, { onWarning });
    const scope = await buildRecallScope(kernel, context, options);
    const waitMs = 1_000 * parseCountOption("wait", options.wait, WAIT);
    await catchUpIndexFor(waitMs, kernel, context, options);
    const { signal } = context;
    const recall = {
      signal,
      waitMs: 0,
      memories,
      activeLine: options.active === true,
      rewound: options.rewound === true,
      ...dropUndefined({ scope }),
    };
    if (options.sessions) {
      // An empty prefix names all sessions, and thereby no files.
      const within = { ...recall, k: SESSION_HITS, scope: scope ?? { prefix: "" } };
      const recalled = await kernel.memory.recall(question, within);
      for (const warning of warnings) context.stderr.write(`longhaul: ${escapeLine(warning)}\n`);
      await printSessions(kernel, context, options, { question, recalled, k });
      return EXIT.fine;
    }
    const recalled = await kernel.memory.recall(question, { ...recall, k, details: true });
    const around = options.expand ? await readSurroundings(kernel, recalled.hits) : new Map();
    for (const warning of warnings) context.stderr.write(`longhaul: ${escapeLine(warning)}\n`);
    if (options.json) {
      const hits = recalled.hits.map((hit) => ({
        ...hit,
        ...(options.expand && { around: around.get(hit) }),
      }));
      await printJson(context, { question, ...recalled, hits });
    } else await printLines(context, renderHits(context, options, { recalled, around }));
    return EXIT.fine;
  },
});

async function readSurroundings(
  kernel: Kernel,
  hits: readonly RecalledHit[],
): Promise<ReadonlyMap<RecalledHit, readonly Entry[]>> {
  const around = new Map<RecalledHit, readonly Entry[]>();
  for (const hit of hits)
    around.set(hit, hit.kind === "session" ? await kernel.memory.expand(hit.entry) : []);
  return around;
}

/** Prints the sessions of a recall, whose numbers other commands then accept. */
async function printSessions(
  kernel: Kernel,
  context: CliContext,
  options: RecallValues,
  { question, recalled, k }: Pick<Outcome, "recalled"> & { readonly question: string; readonly k: number },
): Promise<void> {
  const { hits: _, ...facts } = recalled;
  const rows = await readFoundSessions(kernel, findSessions(recalled, k));
  await writeListing(
    getStorePath(context, options),
    rows.map(({ session }) => session),
  );
  if (options.json) {
    const sessions = rows.map(({ hits, ...row }, index) => ({
      number: index + 1,
      ...row,
      hits: hits.slice(0, HITS_OF_SESSION),
    }));
    await printJson(context, { question, sessions, ...facts });
    return;
  }
  const paint = choosePaint(context, options);
  const table = renderFoundSessions(question, rows, recalled, { width: context.columns.stdout, paint });
  await printLines(context, [...table, ...renderNotes({ recalled }, options, paint)]);
}

function renderHits(
  context: CliContext,
  options: RecallValues,
  {
    recalled,
    around,
  }: Pick<Outcome, "recalled"> & { readonly around: ReadonlyMap<RecalledHit, readonly Entry[]> },
): readonly string[] {
  const paint = choosePaint(context, options);
  const columns = context.columns.stdout;
  const now = Date.now();
  const lines = groupHits(recalled.hits).flatMap((group, index) => {
    const best = group[0] as RecalledHit;
    const likelihood = describeLikelihood(best, recalled);
    const layout = { number: index + 1, likelihood, now, paint, columns };
    const shown = options.expand ? group : group.slice(0, SHOWN_HITS);
    const hits = shown.flatMap((hit) => [
      ...renderHit(hit, {
        ...layout,
        ...(!options.expand && { lines: hit === best ? EXCERPT_LINES : FURTHER_LINES }),
      }),
      ...(around.get(hit) ?? [])
        .filter((entry) => hit.kind === "session" && entry.id !== hit.entry)
        .map((entry) =>
          paint("dim", `    ${escapeLine(`#${entry.seq}`)} ${formatEntryExcerpt(entry, columns - 16)}`),
        ),
    ]);
    const gap = index > 0 ? [""] : [];
    const more = renderFurtherHits(group.slice(shown.length), layout);
    return [...gap, ...renderHitHeading(best, layout), ...hits, ...more, ...renderWork(best, layout)];
  });
  if (lines.length === 0) lines.push(describeNothing(recalled));
  return [...renderFix(recalled, paint), ...lines, ...renderNotes({ recalled }, options, paint)];
}

/** Formats the fix of the error that the question quotes: its files or commands, its commit, and later changes. */
function renderFix({ fix }: RecallResult, paint: Paint): readonly string[] {
  if (!fix) return [];
  const { program, files, steps, commit, changedSince, confirmed } = fix;
  const done = files.length > 0 ? files : steps.flatMap(({ command }) => command ?? []);
  const ended = commit && `commit ${[commit.hash, commit.subject].filter(Boolean).join(" ")}`;
  const facts = [
    done.slice(0, 3).join(", "),
    ...(ended ? [ended] : []),
    ...(changedSince.length > 0 ? [`changed since: ${changedSince.join(", ")}`] : []),
  ];
  return [
    `${paint("green", "Fixed before")}: ${escapeLine(facts.join("; "))}`,
    paint("dim", escapeLine(`  ${program} ran without this error in ${confirmed}`)),
    "",
  ];
}

/** Formats the limits of a recall: entries that were not searched, doubt, and search by words only. */
function renderNotes(
  { recalled }: Pick<Outcome, "recalled">,
  options: RecallValues,
  paint: Paint,
): readonly string[] {
  const { hits, isSure, withoutVectors, unindexed } = recalled;
  const lines: string[] = [];
  if (unindexed !== undefined)
    lines.push(
      paint(
        "yellow",
        `At least ${formatQuantity(unindexed, "entry is", "entries are")} not indexed yet; allow more time with --wait, or run "longhaul index" to index them all.`,
      ),
    );
  if (options.quiet) return lines;
  if (hits.length > 0 && !isSure)
    lines.push(paint("yellow", "Low confidence: the hits match little of the question."));
  if (withoutVectors !== undefined)
    lines.push(paint("dim", escapeLine(`Keyword search only: ${withoutVectors}`)));
  if (options.careful)
    lines.push(
      paint("dim", "--careful has no effect: every recall is as thorough, without the second it took."),
    );
  return lines;
}

/** Joins hits of the same stretch of work, in the order of the best one of each. */
function groupHits(hits: readonly RecalledHit[]): readonly (readonly RecalledHit[])[] {
  const groups = new Map<string, RecalledHit[]>();
  for (const [index, hit] of hits.entries()) {
    const key = getWorkKey(hit) ?? String(index);
    const group = groups.get(key);
    if (group) group.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()];
}

function getWorkKey(hit: RecalledHit): string | undefined {
  const { work } = hit.details ?? {};
  return hit.kind === "session" && work ? `${hit.session}#${work.from}-${work.to}` : undefined;
}

/** Options that narrow the scope of a recall. */
interface ScopeValues {
  readonly session?: readonly string[];
  readonly prefix?: string;
  readonly agent?: string;
  readonly path?: readonly string[];
  readonly as?: string;
}

type Scope = NonNullable<NonNullable<Parameters<Kernel["memory"]["recall"]>[1]>["scope"]>;

/** Builds the scope of a recall; undefined for everything. */
async function buildRecallScope(
  kernel: Kernel,
  context: CliContext,
  options: ScopeValues & CommonValues,
): Promise<Scope | undefined> {
  const { session, prefix = "", agent, path } = options;
  if (options.as !== undefined && agent !== undefined)
    throw new UsageError("--as and --agent cannot be combined");
  // Indexed files belong to no person of the gateway.
  if (options.as !== undefined && path !== undefined)
    throw new UsageError("--as and --path cannot be combined");
  const within = await findSessionScope(kernel, context, options);
  const sessions: string[] = [];
  for (const wanted of session ?? []) sessions.push(await findSession(kernel, wanted, within));
  if (agent !== undefined) sessions.push(kernel.memories(agent).session);
  // A narrower question about some sessions is none about memories.
  const hasMemories = within.person !== undefined && session === undefined && prefix === "";
  const scope: Scope = {
    ...(sessions.length > 0 && { sessions }),
    ...(within.prefixes
      ? { prefixes: within.prefixes.map((own) => own + prefix) }
      : prefix !== "" && { prefix }),
    ...(hasMemories && { agents: [getMemoryAgent({ id: within.person as string })] }),
    ...(path && { files: path.map((one) => resolve(context.cwd, one)) }),
  };
  return Object.keys(scope).length === 0 ? undefined : scope;
}

/** A found session with its record's facts. */
interface FoundSessionRow extends FoundSession, SessionOrigin {
  readonly title?: string;
  /** Time of its best hit. */
  readonly at: number;
}

const COLUMNS: readonly Column[] = [
  { title: "#", align: "right", look: "dim" },
  { title: "title", shrinks: "last" },
  { title: "agent" },
  { title: "project", shrinks: "last" },
  { title: "date" },
  { title: "match", look: "green" },
  { title: "best sentence", shrinks: "first" },
];

/** Reads title and origin of each session. */
async function readFoundSessions(
  kernel: Kernel,
  found: readonly FoundSession[],
): Promise<readonly FoundSessionRow[]> {
  const rows: FoundSessionRow[] = [];
  for (const one of found) {
    const record: SessionRecord | undefined = await kernel.find(one.session);
    const title = record?.title;
    rows.push({ ...one, ...dropUndefined({ title }), ...(record && findOrigin(record)), at: findTime(one) });
  }
  return rows;
}

function findTime({ session, hits }: FoundSession): number {
  const [best] = hits;
  if (!best || best.session === session) return best?.at ?? 0;
  return best.copies?.find((copy) => copy.session === session)?.at ?? best.at;
}

/** Formats found sessions as a table, whose numbers other commands accept. */
function renderFoundSessions(
  question: string,
  rows: readonly FoundSessionRow[],
  recalled: RecallResult,
  options: Parameters<typeof renderTable>[2],
): readonly string[] {
  if (rows.length === 0) return [describeNothing(recalled)];
  const cells = rows.map(({ session, title, agent, project, at, hits }, index) => [
    String(index + 1),
    title ?? session,
    agent ?? "",
    project ?? "",
    formatTime(at).slice(0, 10),
    hits[0] ? describeLikelihood(hits[0], recalled) : "",
    hits[0] ? findSentence(question, hits[0]) : "",
  ]);
  return renderTable(COLUMNS, cells, options);
}

/** Says that a recall found nothing, and the remedy if nothing is stored. */
function describeNothing({ isEmpty }: Pick<RecallResult, "isEmpty">): string {
  return isEmpty
    ? 'Nothing found: the store is empty. "longhaul import" reads the conversations of your agents, "longhaul index PATH" reads files.'
    : "Nothing found.";
}

function findSentence(question: string, { text }: RecalledHit): string {
  const sentence = findMatchedSentence(question, text);
  return sentence ? text.slice(sentence.from, sentence.to) : (text.trim().split("\n", 1)[0] ?? "");
}

/** A session that a recall found. */
interface FoundSession {
  readonly session: SessionId;
  readonly score: number;
  /** Its hits and the hits with a copy in it, best first. */
  readonly hits: readonly SessionHit[];
}

/** Orders the sessions of a recall, best first. */
function findSessions({ hits }: RecallResult, limit: number): readonly FoundSession[] {
  const ofSessions = hits.filter((hit) => hit.kind === "session");
  return rankSessions(ofSessions)
    .slice(0, limit)
    .map(({ session, score }) => ({
      session,
      score,
      hits: ofSessions.filter((hit) => isIn(hit, session)),
    }));
}

function isIn(hit: SessionHit, session: SessionId): boolean {
  return hit.session === session || (hit.copies?.some((copy) => copy.session === session) ?? false);
}

/** The question about work in some operands; undefined for a plain question that only begins with such a word. */
function findWorkQuestion([first = "", ...rest]: readonly string[]): NamedQuestion | undefined {
  const question = WORK_QUESTIONS.find((one) => one === first);
  const words = rest.join(" ").trim();
  if (question === undefined || words === "") return undefined;
  if (question === "how" && PLAIN.test(rest[0]?.split(" ")[0] ?? "")) return undefined;
  if (question === "why" && (rest.length > 1 || !FILE.test(words) || /\s/.test(words))) return undefined;
  return { question, words };
}

/** Prints the steps of earlier work that answer a question, best first. */
async function answerAboutWork(
  context: CliContext,
  options: CommonValues,
  asked: NamedQuestion & { readonly kernel: Kernel; readonly k: number; readonly scope: SessionScope },
): Promise<number> {
  const { kernel, question, words, k, scope } = asked;
  const { conversations } = await readConversations(kernel, { prefixes: scope.prefixes });
  const sessions = conversations.map(({ id }) => id);
  const hits = await new WorkHistory(kernel).ask(question, words, { sessions, limit: k });
  await printResult(
    context,
    options,
    () => ({ question, words, hits }),
    () =>
      hits.length === 0
        ? ["Nothing of that kind was done before."]
        : hits.map((hit, index) => `${String(index + 1).padStart(2)}  ${escapeLine(renderWorkHit(hit))}`),
  );
  return EXIT.fine;
}
