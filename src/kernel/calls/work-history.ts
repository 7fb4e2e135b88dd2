import { BoundedMap } from "../../model/base/bounded-map.ts";
import { findOrigin } from "../../model/session-origin.ts";
import {
  findTroubles,
  listWorkSteps,
  nameProgram,
  normalizeTrouble,
  type SourceMessage,
  type WorkStep,
} from "../faces/window.ts";
import type { EntryId, Kernel, SessionId } from "../index.ts";
import { readNewestMessages } from "./read-newest-messages.ts";

/** Questions about work: how an error was ended, which commands did a task, why a file was changed. */
export const WORK_QUESTIONS = ["fix", "how", "why"] as const;

export type WorkQuestion = (typeof WORK_QUESTIONS)[number];

/** The sessions that a question about work looks at, newest first, and the time that it may take. */
interface WorkScope {
  readonly sessions: readonly SessionId[];
  /** A moment of `performance.now()` at which reading of further sessions stops; default: never. */
  readonly deadlineMs?: number;
  readonly limit?: number;
}

/** A step of earlier work that answers a question. */
export interface WorkHit {
  readonly session: SessionId;
  readonly agent: string | undefined;
  readonly step: WorkStep;
  /** The line of the error that the step ended, for a fix. */
  readonly error?: string;
  /** The run of the same program without the error, for a fix. */
  readonly confirmed?: EntryId;
  /** The commit that holds the step, if the session made one. */
  readonly commit: WorkStep["commit"];
  /** True if a later step of the log changed the same file. */
  readonly hasChangedSince: boolean;
  /** How well it fits, from 0 to 1. */
  readonly score: number;
}

/** The work of one session. */
interface SessionWork {
  readonly session: SessionId;
  readonly agent: string | undefined;
  /** The end of the session when it was read. */
  readonly seq: number;
  readonly checkedMs: number;
  readonly steps: readonly WorkStep[];
  /** The lines of trouble in the steps' outputs, ready to be compared. */
  readonly troubles: readonly Trouble[];
}

/** A line of an error, and the step that printed it. */
interface Trouble {
  /** Place of the step among the session's steps. */
  readonly place: number;
  readonly line: string;
  readonly plain: string;
  readonly words: readonly string[];
}

const MAX_SESSIONS = 400;
const MAX_CACHED = 400;
const MAX_MESSAGES = 6_000;
const LIMIT = 3;
/** Time after which a session is looked at again, because it may have grown. */
const CHECK_MS = 5_000;
/** Steps after an error within which a fix is looked for. */
const MAX_STEPS_TO_FIX = 60;
const MIN_FIX_SCORE = 0.6;
const MIN_TASK_SCORE = 0.5;

/**
 * Answers questions about earlier work from the tool calls of the log: how an error was ended, which commands did a
 * task, and why a file was changed. Sessions are read once and again only when they have grown.
 */
export class WorkHistory {
  readonly #kernel: Kernel;
  readonly #known = new BoundedMap<SessionId, SessionWork>({ max: MAX_CACHED });

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The edits or commands after which an error did not come back, best first. */
  async fix(error: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    const lines = findTroubles(error);
    const asked = (lines.length > 0 ? lines : error.split("\n").slice(0, 3)).map(normalizeTrouble);
    const all = await this.#read(scope);
    const wanted = asked.map((plain) => ({ plain, words: splitWords(plain) }));
    const weigh = weighWords(all.flatMap(({ troubles }) => troubles.map(({ words }) => words)));
    const fixes = all.flatMap((work) => findFixes(work, wanted, weigh));
    const newest = fixes.sort((one, other) => other.score - one.score || other.at - one.at);
    const hits = newest.flatMap(({ work, steps, score, error: line, confirmed }) =>
      steps.map(
        (step): WorkHit => ({
          ...describe(work, step, all),
          error: line,
          confirmed,
          score,
        }),
      ),
    );
    return keepFirst(hits, scope.limit ?? LIMIT);
  }

  /** Answers one of the questions by its name. */
  ask(question: WorkQuestion, words: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    return this[question](words, scope);
  }

  /** Commands that succeeded for a task, best first. */
  async how(task: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    const all = await this.#read(scope);
    const wanted = splitWords(task);
    const weigh = weighWords(all.flatMap(({ steps }) => steps.map(({ text }) => splitWords(text))));
    const hits = all.flatMap((work) =>
      work.steps
        .filter(({ kind, isFailed }) => kind === "command" && !isFailed)
        .map((step) => {
          const own = new Set(splitWords(step.text));
          const around = new Set(splitWords(step.request?.text ?? ""));
          const total = wanted.reduce((sum, word) => sum + weigh(word), 0);
          const found = wanted.reduce(
            (sum, word) => sum + weigh(word) * (own.has(word) ? 1 : around.has(word) ? 0.5 : 0),
            0,
          );
          return { work, step, score: total === 0 ? 0 : found / total };
        })
        .filter(({ score }) => score >= MIN_TASK_SCORE),
    );
    hits.sort((one, other) => other.score - one.score || other.step.at - one.step.at);
    return keepFirst(
      hits.map(({ work, step, score }) => ({ ...describe(work, step, all), score })),
      scope.limit ?? LIMIT,
    );
  }

  /** The last changes of a file with the requests behind them, newest first. */
  async why(file: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    const path = file.replace(/:\d+(?:-\d+)?$/, "").replaceAll("\\", "/");
    const all = await this.#read(scope, (work) => work.steps.some((step) => isChangeOf(step, path)));
    const hits = all
      .flatMap((work) => work.steps.filter((step) => isChangeOf(step, path)).map((step) => ({ work, step })))
      .sort((one, other) => other.step.at - one.step.at);
    // Several edits for one request are one change.
    const seen = new Set<string>();
    const firsts = hits.filter(({ work, step }) => {
      const key = `${work.session} ${step.request?.entry ?? step.entry}`;
      return !seen.has(key) && seen.add(key);
    });
    return firsts
      .slice(0, scope.limit ?? LIMIT)
      .map(({ work, step }) => ({ ...describe(work, step, all), score: 1 }));
  }

  /** Commands that failed after a change of a file, newest first, each with its error. */
  async failuresAfter(file: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    const all = await this.#read(scope);
    const hits = all.flatMap((work) =>
      work.steps.flatMap((step, index) => {
        if (!isChangeOf(step, file)) return [];
        const next = work.steps.slice(index + 1, index + 6).find(({ kind }) => kind === "command");
        return next?.isFailed && next.troubles[0] !== undefined
          ? [{ ...describe(work, next, all), error: next.troubles[0], score: 1 }]
          : [];
      }),
    );
    return keepFirst(
      hits.sort((one, other) => other.step.at - one.step.at),
      scope.limit ?? LIMIT,
    );
  }

  /** The last run of a command that failed, and the run that ended the failure; undefined if it never failed. */
  async failureOf(command: string, key: string, scope: WorkScope): Promise<WorkHit | undefined> {
    if (command.trim() === "") return undefined;
    const all = await this.#read(scope);
    const runs = all
      .flatMap((work) => work.steps.filter((step) => step.key === key).map((step) => ({ work, step })))
      .sort((one, other) => other.step.at - one.step.at);
    const failed = runs.find(({ step }) => step.isFailed && step.troubles.length > 0);
    const [last] = runs;
    // A command that has succeeded since needs no warning.
    if (!failed || failed !== last) return undefined;
    return { ...describe(failed.work, failed.step, all), error: failed.step.troubles[0] as string, score: 1 };
  }

  /** Reads sessions until the deadline, or until one of them answers. */
  async #read(
    { sessions, deadlineMs = Number.POSITIVE_INFINITY }: WorkScope,
    isEnough: (work: SessionWork) => boolean = () => false,
  ): Promise<readonly SessionWork[]> {
    const read: SessionWork[] = [];
    for (const id of sessions.slice(0, MAX_SESSIONS)) {
      const work = await this.#readOne(id, deadlineMs);
      if (work) read.push(work);
      if (work && isEnough(work)) break;
    }
    return read;
  }

  async #readOne(id: SessionId, deadlineMs: number): Promise<SessionWork | undefined> {
    const known = this.#known.use(id);
    const nowMs = performance.now();
    if (known && nowMs - known.checkedMs < CHECK_MS) return known;
    const record = await this.#kernel.find(id);
    if (!record) return undefined;
    const seq = (await this.#kernel.memory.readNewest(id, { limit: 1 }))[0]?.seq ?? 0;
    if (known?.seq === seq) {
      const checked = { ...known, checkedMs: nowMs };
      this.#known.set(id, checked);
      return checked;
    }
    if (nowMs > deadlineMs) return known;
    const messages: readonly SourceMessage[] = await readNewestMessages(this.#kernel, id, MAX_MESSAGES);
    const steps = listWorkSteps(messages);
    const troubles = steps.flatMap((step, place) =>
      step.troubles.map((line): Trouble => {
        const plain = normalizeTrouble(line);
        return { place, line, plain, words: splitWords(plain) };
      }),
    );
    const work = { session: id, agent: findOrigin(record).agent, seq, checkedMs: nowMs, steps, troubles };
    this.#known.set(id, work);
    return work;
  }
}

interface FoundFix {
  readonly work: SessionWork;
  /** The last edit first, because it is the one after which the error was gone. */
  readonly steps: readonly WorkStep[];
  readonly score: number;
  readonly at: number;
  readonly error: string;
  readonly confirmed: EntryId;
}

/** Every occurrence of an error that a later run of the same program no longer printed. */
function findFixes(
  work: SessionWork,
  wanted: readonly Pick<Trouble, "plain" | "words">[],
  weigh: (word: string) => number,
): readonly FoundFix[] {
  const { steps, troubles } = work;
  return troubles.flatMap(({ place, line, plain, words }): readonly FoundFix[] => {
    const score = Math.max(0, ...wanted.map((one) => compare(one, { plain, words }, weigh)));
    if (score < MIN_FIX_SCORE) return [];
    const step = steps[place] as WorkStep;
    const later = steps.slice(place + 1, place + 1 + MAX_STEPS_TO_FIX);
    const program = nameProgram(step.key);
    const end = later.findIndex(
      (run) => run.kind === "command" && nameProgram(run.key) === program && !run.troubles.includes(line),
    );
    const confirming = later[end];
    if (!confirming) return [];
    const between = later.slice(0, end).filter(({ isFailed }) => !isFailed);
    const edits = between.filter(({ kind }) => kind === "edit");
    const doing = edits.length > 0 ? edits : between.filter(({ key }) => !isLooking(key));
    const ending = doing.length > 0 ? doing.toReversed() : [confirming];
    return [
      {
        work,
        steps: orderByError(ending, line),
        score,
        at: step.at,
        error: line,
        confirmed: confirming.entry,
      },
    ];
  });
}

/** Edits of a file that the error names come first; otherwise the last edit. */
function orderByError(steps: readonly WorkStep[], error: string): readonly WorkStep[] {
  const isNamed = ({ paths }: WorkStep) =>
    paths.some((path) => error.includes(path.slice(path.lastIndexOf("/") + 1)));
  return [...steps.filter(isNamed), ...steps.filter((step) => !isNamed(step))];
}

/** Commands that only look at things. */
function isLooking(key: string): boolean {
  return /^(?:grep|rg|cat|sed -n|ls|find|head|tail|wc|git (?:status|diff|log|show)|gh |echo|pwd|which)\b/.test(
    key,
  );
}

function describe(
  work: SessionWork,
  step: WorkStep,
  all: readonly SessionWork[],
): Omit<WorkHit, "score" | "error" | "confirmed"> {
  const { session, agent, steps } = work;
  const commit = steps.find(({ at, seq, commit: made }) => made && at >= step.at && seq > step.seq)?.commit;
  const hasChangedSince = step.paths.some((path) =>
    all.some((other) =>
      other.steps.some(
        (later) => later.at > step.at && later.entry !== step.entry && later.paths.includes(path),
      ),
    ),
  );
  return { session, agent, step, commit: step.commit ?? commit, hasChangedSince };
}

/** A step that was copied into a later conversation, or repeated, counts once. */
function keepFirst(hits: readonly WorkHit[], limit: number): readonly WorkHit[] {
  const seen = new Set<string>();
  const kept = hits.filter(({ step }) => {
    const key = `${step.paths.join()} ${step.text}`;
    return !seen.has(key) && seen.add(key);
  });
  return kept.slice(0, limit);
}

/** True if a step changed the file, however each of the two paths was written. */
function isChangeOf({ kind, paths }: WorkStep, file: string): boolean {
  const wanted = file.replace(/^(?:\.\/)+/, "");
  return (
    kind === "edit" &&
    paths.some((path) => path === wanted || path.endsWith(`/${wanted}`) || wanted.endsWith(`/${path}`))
  );
}

function splitWords(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])];
}

/** Rare words weigh more. */
function weighWords(texts: readonly (readonly string[])[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const words of texts) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => Math.log(1 + (texts.length + 1) / ((counts.get(word) ?? 0) + 0.5));
}

/** The share of weight that two lines have in common; lines without a common word are not weighed. */
function compare(
  one: Pick<Trouble, "plain" | "words">,
  other: Pick<Trouble, "plain" | "words">,
  weigh: (word: string) => number,
): number {
  if (one.plain === other.plain) return 1;
  const common = other.words.filter((word) => one.words.includes(word));
  if (3 * common.length < one.words.length) return 0;
  const sum = (words: readonly string[]) => words.reduce((total, word) => total + weigh(word), 0);
  const either = sum(one.words) + sum(other.words) - sum(common);
  return either === 0 ? 0 : (0.99 * sum(common)) / either;
}
