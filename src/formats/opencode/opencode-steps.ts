import type { PartInput, Usage } from "../../index.ts";
import { dropUndefined, omitFields, toObject } from "../../wire/fields.ts";
import type { Leftovers } from "../content/leftovers.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { CallIds } from "./call-ids.ts";
import { decodeOpencodeCall, decodeOpencodePart, isEnded } from "./opencode-parts.ts";
import { decodeOpencodeUsage, findOddTotal } from "./opencode-usage.ts";

/** A tool call with its result. */
interface EndedTool {
  readonly part: JsonObject;
  readonly state: JsonObject;
  readonly callId: string;
  readonly place: string;
}

/** One request to the model and its outcome. Old versions of opencode put several into one message. */
export interface OpencodeStep {
  readonly parts: readonly PartInput[];
  /** Fields that our parts cannot represent, by index of the part. */
  readonly rests: readonly (readonly [index: string, rest: Leftovers])[];
  /** opencode's markers for the start and end of the step. */
  readonly marks: readonly Leftovers[];
  readonly tools: readonly EndedTool[];
  readonly usages: readonly Usage[];
  /** Length of its text and states of its tools, to detect growth. */
  readonly words: number;
  readonly states: string;
}

type OpenStep = {
  -readonly [K in keyof OpencodeStep]: OpencodeStep[K] extends readonly (infer E)[] ? E[] : OpencodeStep[K];
};

/** Splits a message into steps: a new step begins when the model is called again after tools have run. */
export function splitSteps(
  parts: readonly unknown[],
  message: string,
  callIds: CallIds,
): readonly OpencodeStep[] {
  let step = createStep();
  const steps = [step];
  const places = new Set<string>();
  for (const [index, value] of parts.entries()) {
    const part = toObject(value);
    if (part?.type === "step-start" && step.parts.some(({ type }) => type === "tool-call")) {
      step = createStep();
      steps.push(step);
    }
    if (part?.type === "step-start" || part?.type === "step-finish") {
      markStep(part, step);
      continue;
    }
    const isTool = part?.type === "tool";
    const place = `${message}/${choosePlace(part, index, places)}`;
    const callId = isTool ? callIds.assignId(part.callID, place) : "";
    const found = isTool ? decodeOpencodeCall(part, callId) : decodeOpencodePart(value);
    if (found.rest) step.rests.push([String(step.parts.length), found.rest]);
    step.parts.push(found.part);
    if (typeof part?.text === "string") step.words += part.text.length;
    if (!isTool) continue;
    const state = toObject(part.state) ?? {};
    step.states += String(state.status).slice(0, 1);
    if (isEnded(state)) step.tools.push({ part, state, callId, place });
  }
  return steps;
}

function createStep(): OpenStep {
  return { parts: [], rests: [], marks: [], tools: [], usages: [], words: 0, states: "" };
}

function markStep(part: JsonObject, step: OpenStep): void {
  const mark = omitFields(part, ["messageID", "sessionID", "tokens", "cost"]);
  if (mark) step.marks.push({ ...mark, ...dropUndefined({ total: findOddTotal(part.tokens) }) });
  const usage = part.type === "step-finish" ? decodeOpencodeUsage(part.tokens, part.cost) : undefined;
  if (usage) step.usages.push(usage);
}

/** Returns opencode's part id, or the index if the id is unusable. */
function choosePlace(part: JsonObject | undefined, index: number, places: Set<string>): string {
  const id = part?.id;
  const isGood = typeof id === "string" && id.startsWith("prt_") && !places.has(id);
  const place = isGood ? id : String(index);
  places.add(place);
  return place;
}
