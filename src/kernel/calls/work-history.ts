import { BoundedMap } from "../../model/base/caches.ts";
import { findHistoryPlace, findOrigin, type HistoryPlace } from "../../model/session-origin.ts";
import {
  findEnding,
  findTroubles,
  listPlainWords,
  listWorkSteps,
  matchTrouble,
  readTrouble,
  type SourceMessage,
  type Trouble,
  type WorkStep,
  weighWords,
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
  /** Where the history of the session lay; undefined if longhaul recorded it. */
  readonly place: HistoryPlace | undefined;
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
  readonly place: HistoryPlace | undefined;
  /** The end of the session and of its line when it was read. */
  readonly seq: number;
  readonly lineSeq: number;
  readonly checkedMs: number;
  readonly steps: readonly WorkStep[];
  /** The lines of trouble in the steps' outputs, ready to be compared. */
  readonly troubles: readonly (Trouble & { readonly step: WorkStep })[];
}

const MAX_SESSIONS = 400;
const MAX_CACHED = 400;
const MAX_MESSAGES = 6_000;
const LIMIT = 3;
/** Time after which a session is looked at again, because it may have grown. */
const CHECK_MS = 5_000;
const MIN_TASK_SCORE = 0.5;

/**
 * Answers questions about earlier work from the tool calls of the log: how an error was ended, which commands did a
 * task, and why a file was changed. Sessions are read once and again only when they have grown.
 */
export class WorkHistory {
  readonly #kernel: Kernel;
  readonly #known = new BoundedMap<SessionId, SessionWork>({ max: MAX_CACHED });
  #erasures = -1;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The edits or commands after which an error did not come back, best first. */
  async fix(error: string, scope: WorkScope): Promise<readonly WorkHit[]> {
    const lines = findTroubles(error);
    const asked = (lines.length > 0 ? lines : error.split("\n").slice(0, 3)).map(readTrouble);
    const all = await this.#read(scope);
    const weigh = weighWords(all.flatMap(({ troubles }) => troubles.map(({ words }) => words)));
    const fixes = all.flatMap((work) =>
      work.troubles.flatMap((trouble) => {
        const match = matchTrouble(asked, trouble, weigh);
        const ending = match > 0 ? findEnding(work.steps, trouble.step, trouble, match) : undefined;
        return ending && !ending.hasReturned ? [{ ...ending, work, trouble }] : [];
      }),
    );
    fixes.sort((one, other) => other.score - one.score || other.trouble.step.at - one.trouble.step.at);
    const hits = fixes.flatMap(({ work, steps, score, trouble, confirmed }) =>
      steps.map(
        (step): WorkHit => ({
          ...describe(work, step, all),
          error: trouble.line,
          confirmed: confirmed.result,
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
    const wanted = listPlainWords(task);
    const weigh = weighWords(all.flatMap(({ steps }) => steps.map(({ text }) => listPlainWords(text))));
    const hits = all.flatMap((work) =>
      work.steps
        .filter(({ kind, isFailed }) => kind === "command" && !isFailed)
        .map((step) => {
          const own = new Set(listPlainWords(step.text));
          const around = new Set(listPlainWords(step.request?.text ?? ""));
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
    const erasures = await this.#kernel.memory.readErasures();
    if (erasures !== this.#erasures) this.#known.clear();
    this.#erasures = erasures;
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
    if (known?.seq === seq && known.lineSeq === record.lineSeq) {
      const checked = { ...known, checkedMs: nowMs };
      this.#known.set(id, checked);
      return checked;
    }
    if (nowMs > deadlineMs) return known;
    const messages: readonly SourceMessage[] = await readNewestMessages(this.#kernel, id, MAX_MESSAGES);
    const steps = listWorkSteps(messages);
    const troubles = steps.flatMap((step) => step.troubles.map((line) => ({ ...readTrouble(line), step })));
    const { lineSeq } = record;
    const { agent } = findOrigin(record);
    const place = findHistoryPlace(record);
    const work = { session: id, agent, place, seq, lineSeq, checkedMs: nowMs, steps, troubles };
    this.#known.set(id, work);
    return work;
  }
}

function describe(
  work: SessionWork,
  step: WorkStep,
  all: readonly SessionWork[],
): Omit<WorkHit, "score" | "error" | "confirmed"> {
  const { session, agent, place, steps } = work;
  const commit = steps.find(({ at, seq, commit: made }) => made && at >= step.at && seq > step.seq)?.commit;
  const hasChangedSince = step.paths.some((path) =>
    all.some((other) =>
      other.steps.some(
        (later) => later.at > step.at && later.entry !== step.entry && later.paths.includes(path),
      ),
    ),
  );
  return { session, agent, place, step, commit: step.commit ?? commit, hasChangedSince };
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
