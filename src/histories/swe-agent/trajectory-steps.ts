import type { Json } from "../../kernel/index.ts";
import { omitFields, toArray, toObject } from "../../wire/fields.ts";
import type { Leftovers } from "../content/leftovers.ts";
import { KnownPrints } from "../deduplication/known-prints.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** One step of the trajectory: it repeats a turn of the history and adds details. */
export interface TrajectoryStep {
  readonly index: number;
  readonly fields: JsonObject;
}

/** Arrays of a file that are read element by element. */
export const ARRAYS: readonly string[] = ["trajectory", "history", "attempts"];

/** Maximum steps to look ahead for a turn; skipped steps are missing from the history. */
const MAX_AHEAD = 4;

/** Reads the steps of a trajectory in parallel with the history, whichever comes first in the file. */
export class StepReader {
  readonly #steps: AsyncGenerator<TrajectoryStep>;
  #ahead: TrajectoryStep[] = [];

  constructor(input: Input, path: string) {
    this.#steps = readSteps(input, path);
  }

  /** Finds the step of a turn, and the steps before it without a turn; undefined if none of the next steps matches. */
  async findStep(
    turn: JsonObject,
  ): Promise<{ readonly before: readonly TrajectoryStep[]; readonly step: TrajectoryStep } | undefined> {
    for (let at = 0; at < MAX_AHEAD; at++) {
      const step = await this.#peek(at);
      if (!step) return undefined;
      if (isStepOfTurn(step.fields, turn)) {
        const before = this.#ahead.slice(0, at);
        this.#ahead = this.#ahead.slice(at + 1);
        return { before, step };
      }
    }
    return undefined;
  }

  /** Yields the remaining steps. */
  async *rest(): AsyncGenerator<TrajectoryStep> {
    yield* this.#ahead;
    yield* this.#steps;
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#steps.return(undefined);
  }

  async #peek(at: number): Promise<TrajectoryStep | undefined> {
    while (this.#ahead.length <= at) {
      const { value } = await this.#steps.next();
      if (!value) return undefined;
      this.#ahead.push(value);
    }
    return this.#ahead[at];
  }
}

async function* readSteps(input: Input, path: string): AsyncGenerator<TrajectoryStep> {
  for await (const { field, index, value } of input.jsonElements(path, ARRAYS)) {
    const fields = toObject(value);
    if (field === "trajectory" && index !== undefined && fields) yield { index, fields };
  }
}

function isStepOfTurn(step: JsonObject, turn: JsonObject): boolean {
  if (typeof step.response === "string" && step.response === joinContentText(turn.content)) return true;
  return step.action !== undefined && step.action === turn.action && step.thought === turn.thought;
}

/** Joins the text of a message's content, a string or a list. */
export function joinContentText(content: unknown): string {
  if (typeof content === "string") return content;
  return toArray(content)
    .map((part) => toObject(part)?.text)
    .filter((text) => typeof text === "string")
    .join("");
}

/** Tells whether `cut` is `whole` with one stretch removed, as a thought is a response without its action. */
export function isCutFrom(whole: string, cut: string): boolean {
  let same = 0;
  while (same < cut.length && whole[same] === cut[same]) same++;
  return cut.length <= whole.length && whole.endsWith(cut.slice(same));
}

const MAX_SEEN = 100_000;

/** Recognizes messages that a step repeats from the model's input; remembers the latest 100,000. */
export class SeenMessages {
  readonly #seen = new KnownPrints(MAX_SEEN);

  /** Remembers a message; returns false if it was known. */
  add(message: unknown): boolean {
    const { role, content } = toObject(message) ?? {};
    return this.#seen.add(`${String(role)}\n${joinContentText(content)}`);
  }
}

/** The history's turn for a step, and the observation after it. */
interface HistoryTurn {
  readonly turn?: JsonObject;
  readonly observation?: string;
}

/** Returns the fields of a step that the log lacks, and the number of bytes that are copies. */
export function collectStepLeftovers(
  { fields }: TrajectoryStep,
  { turn, observation }: HistoryTurn,
  seen: SeenMessages,
): { readonly left: Leftovers | undefined; readonly copiedBytes: number } {
  const response = joinContentText(turn?.content ?? fields.response);
  const asked = toArray(fields.query ?? fields.messages).flatMap((message, index) =>
    seen.add(message) ? [{ index, message: message as Json }] : [],
  );
  const isThoughtCopy = fields.thought === turn?.thought || isCutFrom(response, String(fields.thought ?? ""));
  const isObserved = observation?.includes(String(fields.observation ?? ""));
  const held = [
    ...(turn === undefined || fields.action === turn.action ? ["action"] : []),
    ...(isThoughtCopy ? ["thought"] : []),
    ...(fields.response === response ? ["response"] : []),
    // Without an observation in the history, the log uses the step's.
    ...(observation === undefined || isObserved ? ["observation"] : []),
  ];
  const rest = omitFields(fields, [...held, "query", "messages"]);
  const left = { ...rest, ...(asked.length > 0 && { query: asked }) };
  const copies = held.filter((field) => {
    if (field === "observation") return observation !== undefined;
    return field === "thought" || turn !== undefined;
  });
  const askedBytes = countBytes(fields.query ?? fields.messages) - countBytes(asked);
  const copiedBytes = copies.reduce((sum, field) => sum + countBytes(fields[field]), Math.max(0, askedBytes));
  return { left: Object.keys(left).length > 0 ? left : undefined, copiedBytes };
}

function countBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
