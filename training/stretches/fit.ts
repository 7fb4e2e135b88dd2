import { join } from "node:path";
import { importSources } from "../../src/histories/index.ts";
import { loadConversation } from "../../src/kernel/calls/load-conversation.ts";
import { countProtocolTokens, type RecordedMessage } from "../../src/kernel/faces/window.ts";
import { openKernel } from "../../src/kernel/index.ts";
import type { ToolCallPart } from "../../src/model/part.ts";
import { listChanges } from "../../src/window/effects/list-changes.ts";
import { FileStretches, listTerms, TERMS } from "../../src/window/policies/longhaul/file-stretches.ts";

/**
 * Fits the weights of `src/window/policies/longhaul/stretch-weights.ts`: a logistic regression over the stretches of files
 * that a conversation has shown, with the answer whether one of the next 30 replies replaces text in them.
 *
 * node training/stretches/fit.ts [folder of transcripts]
 */
const REPLIES = 30;
/** Replies between two points at which stretches are listed, and before the first one. */
const STEP = 10;
const MIN_REPLIES = 20;
const FOLDS = 5;
const ROUNDS = 400;
const RATE = 1;
const DECAY = 1e-4;
const ROOMS = [3_000, 6_000, 10_000, 20_000];

interface Sample {
  readonly terms: readonly number[];
  readonly isEdited: boolean;
  readonly tokens: number;
  readonly age: number;
}

/** All stretches at one point of a conversation; `project` is the folder of its first file. */
interface Point {
  readonly project: string;
  readonly samples: readonly Sample[];
}

function* listPoints(conversation: readonly RecordedMessage[]): Generator<Point> {
  const stretches = new FileStretches(countProtocolTokens);
  let replies = 0;
  for (const [index, { seq, at, message }] of conversation.entries()) {
    if (message.role === "assistant" && ++replies >= MIN_REPLIES && replies % STEP === 0) {
      const edits = listNextEdits(conversation.slice(index));
      const listed = stretches.list(() => true);
      const samples = listed.map(({ text, shown: { path }, features }): Sample => {
        const isEdited = edits.some((edit) => edit.path === path && sharesLine(edit.before, text));
        const tokens = countProtocolTokens({ role: "user", parts: [{ type: "text", text }] });
        return { terms: listTerms(features), isEdited, tokens, age: features.age };
      });
      const project = listed[0]?.shown.path.split("/").slice(0, 5).join("/") ?? "";
      if (samples.length > 0) yield { project, samples };
    }
    stretches.observe({ seq, at, message, tokens: countProtocolTokens(message) });
  }
}

function listNextEdits(conversation: readonly RecordedMessage[]) {
  const replies = conversation.filter(({ message }) => message.role === "assistant").slice(0, REPLIES);
  const calls = replies.flatMap(({ message }) => message.parts.filter((part) => part.type === "tool-call"));
  return calls.flatMap((call) => listChanges(call as ToolCallPart)).filter(({ before }) => before !== "");
}

function sharesLine(before: string, text: string): boolean {
  const lines = new Set(text.split("\n").map((line) => line.trim()));
  return before.split("\n").some((line) => line.trim().length > 8 && lines.has(line.trim()));
}

/** Gradient descent with one rate for each weight. */
function fitWeights(samples: readonly Sample[]): readonly number[] {
  const weights = TERMS.map(() => 0);
  const squares = TERMS.map(() => 1e-8);
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = TERMS.map((_, place) => DECAY * (weights[place] as number));
    for (const { terms, isEdited } of samples) {
      const error = (computeChance(terms, weights) - Number(isEdited)) / samples.length;
      for (const [place, term] of terms.entries()) (slopes[place] as number) += error * term;
    }
    for (const [place, slope] of slopes.entries()) {
      (squares[place] as number) += slope ** 2;
      (weights[place] as number) -= (RATE * slope) / Math.sqrt(squares[place] as number);
    }
  }
  return weights;
}

function computeChance(terms: readonly number[], weights: readonly number[]): number {
  const sum = terms.reduce((total, term, place) => total + term * (weights[place] as number), 0);
  return 1 / (1 + Math.exp(-sum));
}

/** Share of the edited stretches that the best ones within a room contain. */
function computeCover(points: readonly Point[], room: number, worthOf: (sample: Sample) => number): number {
  let [covered, edited] = [0, 0];
  for (const { samples } of points) {
    let left = room;
    for (const sample of samples.toSorted((one, other) => worthOf(other) - worthOf(one))) {
      if (sample.isEdited) edited++;
      if (sample.tokens > left) continue;
      left -= sample.tokens;
      if (sample.isEdited) covered++;
    }
  }
  return covered / Math.max(1, edited);
}

const folder = process.argv[2] ?? join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
await using kernel = await openKernel({ path: ":memory:" });
const { sources } = await importSources(kernel, [folder]);
const points: Point[] = [];
for (const id of new Set(sources.map(({ session }) => session)))
  points.push(...listPoints(await loadConversation(kernel, id)));
const projects = [...new Set(points.map(({ project }) => project))].sort();
const samples = points.flatMap((point) => point.samples);
const editedCount = samples.filter(({ isEdited }) => isEdited).length;
process.stderr.write(
  `${points.length} points, ${projects.length} projects, ${samples.length} stretches, ${editedCount} edited within ${REPLIES} replies\n`,
);
for (let fold = 0; fold < FOLDS; fold++) {
  const isHeld = ({ project }: Point) => projects.indexOf(project) % FOLDS === fold;
  const weights = fitWeights(points.flatMap((point) => (isHeld(point) ? [] : point.samples)));
  const held = points.filter(isHeld);
  const shares = ROOMS.map((room) => {
    const byChance = computeCover(held, room, ({ terms, tokens }) => computeChance(terms, weights) / tokens);
    const byAge = computeCover(held, room, ({ age }) => -age);
    return `${room} tokens ${byChance.toFixed(3)} (newest first ${byAge.toFixed(3)})`;
  });
  process.stderr.write(`fold ${fold + 1}, ${held.length} points: ${shares.join(", ")}\n`);
}
const rounded = fitWeights(samples).map((weight) => Math.round(100 * weight) / 100);
process.stdout.write(
  `${JSON.stringify(Object.fromEntries(TERMS.map((name, place) => [name, rounded[place]])), null, 2)}\n`,
);
