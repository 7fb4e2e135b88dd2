import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Evidence, measureEvidence } from "../../../src/recall/certainty.ts";
import type { SessionHit } from "../../../src/recall/hit.ts";
import { ChunkTexts } from "../../../src/recall/index/chunk-texts.ts";
import { ChunkVectors } from "../../../src/recall/index/chunk-vectors.ts";
import { IndexSearch } from "../../../src/recall/index-search.ts";
import type { MemoryScope } from "../../../src/recall/memory-scope.ts";
import { readBeam } from "./beam.ts";
import { type CertaintyQuestion, listCertaintyQuestions } from "./history/certainty-questions.ts";
import { rootOf } from "./history/history-question.ts";
import { judgeHits } from "./history/judge-hits.ts";
import { openHistory } from "./history/open-history.ts";
import { loadEmbedding } from "./load-embedding.ts";
import { readLocomo } from "./locomo.ts";
import { readLongMemEval } from "./longmemeval.ts";
import type { OpenRecall } from "./open-recall.ts";
import type { Question } from "./question.ts";
import { rememberItems } from "./remember-items.ts";
import { computeCurveArea } from "./scores.ts";

/**
 * Fits the weights of `src/recall/certainty.ts`, and prints how well certainty tells questions with an answer from
 * others, in conversations that were not used to fit it. Questions without an answer are those of the data sets, and the
 * others asked of a store without the sessions that answer them; in agents' work also those whose answer is not found.
 */
const FOLDS = 5;
const MAX_PER_KIND = 160;
const FOUND = 5;
const HITS = 30;
const DECAY = 1;
const folder = process.env.LONGHAUL_DATA ?? join(import.meta.dirname, "../../../../shared/data");

type Figure = keyof Evidence["figures"];

/** The figures that count for each kind; others added little on folds, or were drawn to one data set. */
const FIGURES: Readonly<Record<Evidence["kind"], readonly Figure[]>> = {
  people: ["constant", "speaker", "stranger", "around", "score", "others"],
  assistant: ["constant", "session", "names", "worst", "similarity"],
  words: ["constant", "first", "gap", "lead", "decision", "work"],
  work: ["constant", "inside", "textGap", "near", "work", "rarity"],
};

interface Case extends Evidence {
  readonly set: string;
  readonly group: string;
  readonly isAnswered: boolean;
  readonly isRemoved: boolean;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Asks as a recall does, and measures the evidence that its certainty is estimated from. */
function createAsker({ log, memory }: Pick<OpenRecall, "log" | "memory">) {
  const embedding = loadEmbedding();
  const texts = new ChunkTexts(log);
  const embedder = embedding && {
    id: embedding.id,
    dimensions: embedding.dimensions,
    isInstant: true,
    embed: async (all: readonly string[]) => embedding.embed(all),
  };
  const vectors = new ChunkVectors({
    store: log.store.memory,
    texts,
    embedder: embedder ?? undefined,
    maxVectorBytes: undefined,
    onWarning: undefined,
    getShare: () => 1,
  });
  const search = new IndexSearch({ log, texts, vectors, termVectors: () => embedding?.vectors ?? null });
  return async (question: string, scope?: MemoryScope) => {
    const options = { k: HITS, ...(scope && { scope }) };
    const recalled = await memory.recall(question, options);
    const searched = await search.search(question, options);
    const nameOf = (source: number) => searched.found.sources.get(source)?.name ?? "";
    const byPlace = new Map(
      searched.ranked.map((one) => [`${nameOf(one.chunk.source)} ${one.chunk.seq}`, one]),
    );
    const hits = recalled.hits.filter((hit): hit is SessionHit => hit.kind === "session");
    const chunks = hits.flatMap(({ session, seq }) => byPlace.get(`${session} ${seq}`) ?? []);
    const similarity = hits[0]?.similarity ?? null;
    return { hits, evidence: measureEvidence(searched, chunks, similarity) };
  };
}

async function askItems(question: Question, isAnswered: boolean, isRemoved: boolean): Promise<Case[]> {
  const { set, group, text, askedAtMs, goldSessions } = question;
  const items = isRemoved
    ? question.items.filter(({ session }) => !goldSessions.includes(session))
    : question.items;
  if (items.length === 0) return [];
  const opened = await open(items);
  opened.setNow(askedAtMs ?? opened.endMs);
  const { evidence } = await opened.ask(text);
  return evidence ? [{ ...evidence, set, group, isAnswered, isRemoved }] : [];
}

type OpenItems = Awaited<ReturnType<typeof rememberItems>> & {
  readonly items: readonly Question["items"][number][];
  readonly ask: ReturnType<typeof createAsker>;
};
let last: OpenItems | undefined;

async function open(items: Question["items"]): Promise<OpenItems> {
  const isSame =
    last?.items.length === items.length && last.items.every((item, place) => item === items[place]);
  if (last && isSame) return last;
  await last?.close();
  const remembered = await rememberItems(items);
  last = { ...remembered, items, ask: createAsker(remembered) };
  return last;
}

async function askConversations(): Promise<Case[]> {
  const cases: Case[] = [];
  const chats = [
    ...readLocomo(join(folder, "locomo")),
    ...readBeam(join(folder, "beam/100K"), "beam-100K", true),
    ...readLongMemEval(join(folder, "longmemeval-s"), true).questions,
  ];
  const isAnswered = ({ category }: Question) => !/adversarial|abstention/.test(category);
  const whole = chats.map((question) => ({ question, isRemoved: false }));
  const without = chats
    .filter((question) => isAnswered(question) && question.set !== "beam-100K")
    .map((question) => ({ question, isRemoved: true }))
    .sort((left, right) => {
      const [a, b] = [left, right].map(({ question: { group, goldSessions } }) => `${group} ${goldSessions}`);
      return (a as string) < (b as string) ? -1 : 1;
    });
  for (const { question, isRemoved } of [...whole, ...without])
    cases.push(...(await askItems(question, isAnswered(question) && !isRemoved, isRemoved)));
  await last?.close();
  return cases;
}

async function askWork(): Promise<Case[]> {
  const place = mkdtempSync(join(tmpdir(), "fit-certainty-"));
  const { recall, questions } = await openHistory(join(folder, "transcripts"), "claude-code", place);
  await recall.memory.catchUp();
  const ask = createAsker(recall);
  const ids = (await recall.memory.sources({ kind: "session", limit: 1_000 })).map(({ name }) => name);
  const all: CertaintyQuestion[] = [...questions, ...(await listCertaintyQuestions(recall.log))];
  const cases: Case[] = [];
  for (const own of Map.groupBy(all, ({ kind }) => kind).values()) {
    const every = Math.ceil(own.length / MAX_PER_KIND);
    for (const question of own.filter((_, index) => index % every === 0)) {
      const others = ids.filter((id) => rootOf(id) !== question.session);
      for (const isRemoved of [false, true]) {
        const { hits, evidence } = await ask(question.text, isRemoved ? { sessions: others } : undefined);
        const found = hits.map(({ text, session, at: atMs }) => ({ text, session, atMs }));
        const rank = question.isAnswer
          ? found.findIndex(question.isAnswer) + 1
          : (judgeHits(question, found).place ?? 0);
        const isAnswered = !isRemoved && rank > 0 && rank <= FOUND;
        const { kind: set, session: group } = question;
        if (evidence) cases.push({ ...evidence, set, group, isAnswered, isRemoved });
      }
    }
  }
  await recall.close();
  rmSync(place, { recursive: true, force: true });
  return cases;
}

type Weights = Readonly<Record<string, number>>;

/** Worth of all questions with an answer next to those without one, natural or removed: silence costs more at work. */
const ANSWERED_WORTH: Readonly<Record<Evidence["kind"], number>> = {
  people: 1.4,
  assistant: 1.4,
  words: 2,
  work: 2,
};

/** Every set counts the same, whatever its number of questions. */
function weigh(cases: readonly Case[]): number[] {
  const keyOf = ({ set, isAnswered, isRemoved }: Case) => `${set} ${isAnswered} ${isRemoved}`;
  const counts = new Map<string, number>();
  for (const one of cases) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return cases.map(
    (one) =>
      (one.isAnswered ? ANSWERED_WORTH[one.kind] : 1) * (100 / Math.max(10, counts.get(keyOf(one)) ?? 0)),
  );
}

/** Logistic regression by Newton's method, with a penalty for large weights. */
function fitLogistic(cases: readonly Case[], names: readonly Figure[]): Weights {
  const size = names.length;
  const rows = cases.map(({ figures }) => names.map((name) => figures[name]));
  const shares = weigh(cases);
  let weights = new Array<number>(size).fill(0);
  for (let step = 0; step < 30; step++) {
    const matrix = Array.from({ length: size }, (_, axis) =>
      Array.from({ length: size + 1 }, (_, other) =>
        other === axis && names[axis] !== "constant"
          ? DECAY
          : other === size
            ? -DECAY * (weights[axis] as number)
            : 0,
      ),
    );
    for (const [index, row] of rows.entries()) {
      const chance = logistic(row.reduce((sum, value, axis) => sum + value * (weights[axis] as number), 0));
      const share = shares[index] as number;
      const error = (cases[index]?.isAnswered ? 1 : 0) - chance;
      for (let axis = 0; axis < size; axis++) {
        const own = matrix[axis] as number[];
        const value = row[axis] as number;
        for (let other = 0; other < size; other++)
          own[other] =
            (own[other] as number) + share * chance * (1 - chance) * value * (row[other] as number);
        own[size] = (own[size] as number) + share * error * value;
      }
    }
    const change = solve(matrix);
    weights = weights.map((weight, axis) => weight + (change[axis] as number));
  }
  return Object.fromEntries(names.map((name, axis) => [name, Number((weights[axis] as number).toFixed(2))]));
}

function logistic(sum: number): number {
  return 1 / (1 + Math.exp(-Math.max(-30, Math.min(30, sum))));
}

/** Solves linear equations, the right side in the last column, by elimination. */
function solve(matrix: number[][]): number[] {
  for (const [axis, pivot] of matrix.entries()) {
    const divisor = (pivot[axis] as number) || 1e-9;
    for (let column = axis; column < pivot.length; column++)
      pivot[column] = (pivot[column] as number) / divisor;
    for (const [other, row] of matrix.entries()) {
      const factor = row[axis] as number;
      if (other === axis || factor === 0) continue;
      for (let column = axis; column < row.length; column++)
        row[column] = (row[column] as number) - factor * (pivot[column] as number);
    }
  }
  return matrix.map((row) => row.at(-1) as number);
}

function estimate({ figures }: Case, weights: Weights): number {
  return logistic(
    Object.entries(weights).reduce((sum, [name, weight]) => sum + weight * figures[name as Figure], 0),
  );
}

/** A file that keeps the cases, so that other figures can be tried on them. */
const [file] = process.argv.slice(2);
const cases: readonly Case[] =
  file !== undefined && existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : [...(await askConversations()), ...(await askWork())];
if (file !== undefined) writeFileSync(file, JSON.stringify(cases));
const groups = [...new Set(cases.map(({ set, group }) => `${set === "locomo" ? "" : "~"}${group}`))].sort();
const foldOf = ({ set, group }: Case) => groups.indexOf(`${set === "locomo" ? "" : "~"}${group}`) % FOLDS;
const held = new Map<Case, number>();
const fitted: Record<string, Weights> = {};
for (const [kind, names] of Object.entries(FIGURES) as [Evidence["kind"], readonly Figure[]][]) {
  const own = cases.filter((one) => one.kind === kind);
  for (let fold = 0; fold < FOLDS; fold++) {
    const weights = fitLogistic(
      own.filter((one) => foldOf(one) !== fold),
      names,
    );
    for (const one of own) if (foldOf(one) === fold) held.set(one, estimate(one, weights));
  }
  fitted[kind] = fitLogistic(own, names);
}
function report(title: string, own: readonly Case[]): void {
  const areaOf = (some: readonly Case[]) =>
    computeCurveArea(some.map((one) => [held.get(one) ?? 0, one.isAnswered])).toFixed(3);
  const sureOf = (some: readonly Case[]) =>
    (some.filter((one) => (held.get(one) ?? 0) >= 0.4).length / Math.max(1, some.length)).toFixed(2);
  const asked = own.filter(({ isRemoved }) => !isRemoved);
  print(
    `${title.padEnd(14)} n=${own.length}  area ${areaOf(own)}, without removed sessions ${areaOf(asked)}  sure: answered ${sureOf(own.filter(({ isAnswered }) => isAnswered))}, not ${sureOf(asked.filter(({ isAnswered }) => !isAnswered))}, removed ${sureOf(own.filter(({ isRemoved }) => isRemoved))}`,
  );
}
for (const [set, own] of Map.groupBy(cases, ({ set }) => set)) report(set, own);
const isWork = ({ kind }: Case) => kind === "words" || kind === "work";
report(
  "conversations",
  cases.filter((one) => !isWork(one)),
);
report("agents' work", cases.filter(isWork));
print(JSON.stringify(fitted, null, 2));
