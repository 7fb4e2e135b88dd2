import { computeFingerprint } from "../../base/digest.ts";
import type { Json, Usage } from "../../index.ts";
import { dropUndefined, omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { Item } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { OpencodeStep } from "./opencode-steps.ts";
import { decodeOpencodeUsage, findOddTotal } from "./opencode-usage.ts";
import { buildRawItem, buildRecordItem } from "./record-items.ts";
import { decodeToolResult } from "./tool-results.ts";

/** A message with its steps. */
interface MessageSteps {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly info: JsonObject;
  readonly steps: readonly OpencodeStep[];
  /** Fields of `info` that are already known. */
  readonly known: readonly string[];
}

/** Emits a message step by step: text and calls, usage, then tool results. */
export function* decodeOpencodeMessage({ id, role, info, steps, known }: MessageSteps): Generator<Item> {
  const time = toObject(info.time);
  const at = toTime(time?.created);
  const { rest, changes, usages, bytes } = collectLeftovers(role, info, steps, known);
  if (bytes > 0) yield { type: "copy", bytes };
  if (changes) yield buildRawItem(`${id}:changes`, changes, { at, version: hashValue(changes) });
  const who = dropUndefined({ model: toText(info.modelID), provider: toText(info.providerID) });
  let request = 0;
  for (const [index, step] of steps.entries()) {
    const own = index === 0 ? id : `${id}/step${index + 1}`;
    const version = buildVersion(info, step);
    const { small, large } = splitLeftovers(index === 0 ? rest : { message: id });
    if (large) yield buildRawItem(`${own}:extra`, large, { at, version: hashValue(large) });
    const meta = {
      ...small,
      ...(step.rests.length > 0 && { parts: Object.fromEntries(step.rests) }),
      ...(step.marks.length > 0 && { steps: step.marks }),
    };
    const message = {
      role,
      parts: step.parts,
      ...(role === "assistant" && dropUndefined({ model: who.model })),
      ...(Object.keys(meta).length > 0 && { meta: { opencode: meta } }),
    };
    yield buildRecordItem(own, { kind: "message", message }, { at: index === 0 ? at : undefined, version });
    for (const usage of index === 0 ? usages : step.usages) {
      const name = `${id}/${++request}`;
      const ended = step.tools.length === 0 ? toTime(time?.completed) : undefined;
      yield buildRecordItem(
        `${name}:usage`,
        { kind: "usage", usage, ...who, request: name },
        { at: ended ?? at },
      );
    }
    for (const { part, state, callId, place } of step.tools)
      yield* decodeToolResult(part, state, { id: `${place}:result`, callId });
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

function collectLeftovers(
  role: MessageSteps["role"],
  info: JsonObject,
  steps: readonly OpencodeStep[],
  known: readonly string[],
): MessageLeftovers {
  const time = toObject(info.time) && omitFields(info.time as JsonObject, ["created"]);
  const others = ["id", "sessionID", "role", "time", ...known];
  const restBesides = (fields: readonly string[]): Leftovers => ({
    ...omitFields(info, [...others, ...fields]),
    ...(time && { time }),
  });
  if (role !== "assistant") {
    const summary = toObject(info.summary);
    if (!summary) return { rest: restBesides([]), usages: [], bytes: 0 };
    const hasChanges = toArray(summary.diffs).length > 0 || omitFields(summary, ["diffs"]) !== undefined;
    return {
      rest: restBesides(["summary"]),
      ...(hasChanges && { changes: summary as Json }),
      usages: [],
      bytes: 0,
    };
  }
  const reported = steps.flatMap(({ usages }) => usages);
  const own = decodeOpencodeUsage(info.tokens, info.cost);
  if (reported.length === 0) {
    const total = findOddTotal(info.tokens);
    const rest = { ...restBesides(["modelID", "tokens", "cost"]), ...dropUndefined({ total }) };
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
function buildVersion(info: JsonObject, { parts, words, states }: OpencodeStep): string {
  const completed = toTime(toObject(info.time)?.completed) ?? "";
  const outcome = info.error ? "error" : (toText(info.finish) ?? "");
  return `${completed}:${outcome}:${parts.length}:${words}:${states}`;
}

function hashValue(value: Json): string {
  return computeFingerprint(JSON.stringify(value));
}
