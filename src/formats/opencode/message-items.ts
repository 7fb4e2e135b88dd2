import { createHash } from "node:crypto";
import type { Json, Usage } from "../../index.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf, timeOf } from "../content/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { rawItem, recordItem } from "./records.ts";
import type { Step } from "./steps.ts";
import { resultItems } from "./tool-results.ts";
import { oddTotalOf, usageOfTokens } from "./usage.ts";

/** A message with its steps. */
export interface TellableMessage {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly info: JsonObject;
  readonly steps: readonly Step[];
  /** Fields of `info` that are already known. */
  readonly known: readonly string[];
}

/** Emits a message step by step: text and calls, usage, then tool results. */
export function* messageItems({ id, role, info, steps, known }: TellableMessage): Generator<Item> {
  const time = objectOf(info.time);
  const at = timeOf(time?.created);
  const { rest, changes, usages, bytes } = leftoversOf(role, info, steps, known);
  if (bytes > 0) yield { type: "copy", bytes };
  if (changes) yield rawItem(`${id}:changes`, changes, { at, version: digestOf(changes) });
  const who = definedFields({ model: textOf(info.modelID), provider: textOf(info.providerID) });
  let request = 0;
  for (const [index, step] of steps.entries()) {
    const own = index === 0 ? id : `${id}/step${index + 1}`;
    const version = versionOf(info, step);
    const { small, large } = splitLeftovers(index === 0 ? rest : { message: id });
    if (large) yield rawItem(`${own}:extra`, large, { at, version: digestOf(large) });
    const meta = {
      ...small,
      ...(step.rests.length > 0 && { parts: Object.fromEntries(step.rests) }),
      ...(step.marks.length > 0 && { steps: step.marks }),
    };
    const message = {
      role,
      parts: step.parts,
      ...(role === "assistant" && definedFields({ model: who.model })),
      ...(Object.keys(meta).length > 0 && { meta: { opencode: meta } }),
    };
    yield recordItem(own, { kind: "message", message }, { at: index === 0 ? at : undefined, version });
    for (const usage of index === 0 ? usages : step.usages) {
      const name = `${id}/${++request}`;
      const ended = step.tools.length === 0 ? timeOf(time?.completed) : undefined;
      yield recordItem(`${name}:usage`, { kind: "usage", usage, ...who, request: name }, { at: ended ?? at });
    }
    for (const { part, state, callId, place } of step.tools)
      yield* resultItems(part, state, { id: `${place}:result`, callId });
  }
}

interface MessageLeftovers {
  readonly rest: Leftovers;
  /** File changes since the message; opencode updates them as work continues. */
  readonly changes?: Json;
  readonly usages: readonly Usage[];
  /** Bytes that repeat the steps. */
  readonly bytes: number;
}

function leftoversOf(
  role: TellableMessage["role"],
  info: JsonObject,
  steps: readonly Step[],
  known: readonly string[],
): MessageLeftovers {
  const time = objectOf(info.time) && fieldsBesides(info.time as JsonObject, ["created"]);
  const others = ["id", "sessionID", "role", "time", ...known];
  const restBesides = (fields: readonly string[]): Leftovers => ({
    ...fieldsBesides(info, [...others, ...fields]),
    ...(time && { time }),
  });
  if (role !== "assistant") {
    const summary = objectOf(info.summary);
    if (!summary) return { rest: restBesides([]), usages: [], bytes: 0 };
    const hasChanges = arrayOf(summary.diffs).length > 0 || fieldsBesides(summary, ["diffs"]) !== undefined;
    return {
      rest: restBesides(["summary"]),
      ...(hasChanges && { changes: summary as Json }),
      usages: [],
      bytes: 0,
    };
  }
  const reported = steps.flatMap(({ usages }) => usages);
  const own = usageOfTokens(info.tokens, info.cost);
  if (reported.length === 0) {
    const total = oddTotalOf(info.tokens);
    const rest = { ...restBesides(["modelID", "tokens", "cost"]), ...definedFields({ total }) };
    return { rest, usages: own ? [own] : [], bytes: 0 };
  }
  const usages = steps[0]?.usages ?? [];
  if (!own || !isSumOf(own, reported)) return { rest: restBesides(["modelID"]), usages, bytes: 0 };
  const bytes = Buffer.byteLength(JSON.stringify([info.tokens, info.cost]));
  return { rest: restBesides(["modelID", "tokens", "cost"]), usages, bytes };
}

/** Tells whether a message's usage repeats its steps: tokens of the last step and the cost of all. */
function isSumOf({ cost = 0, ...tokens }: Usage, steps: readonly Usage[]): boolean {
  const { cost: _, ...last } = steps.at(-1) as Usage;
  const spent = steps.reduce((sum, step) => sum + (step.cost ?? 0), 0);
  return Math.abs(spent - cost) < 1e-9 && JSON.stringify(last) === JSON.stringify(tokens);
}

/** Returns a version that changes when the message grows: opencode rewrites it with every streamed piece. */
function versionOf(info: JsonObject, { parts, words, states }: Step): string {
  const completed = timeOf(objectOf(info.time)?.completed) ?? "";
  const outcome = info.error ? "error" : (textOf(info.finish) ?? "");
  return `${completed}:${outcome}:${parts.length}:${words}:${states}`;
}

function digestOf(value: Json): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}
