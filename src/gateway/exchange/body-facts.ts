import type { Api, JsonObject } from "../api/api.ts";
import { type CutBody, fieldValue, type Range } from "../body/cut.ts";
import { elementAt, type WireMessages } from "../body/wire-message.ts";
import { type Shape, shapeOf } from "../identity/shape.ts";
import { isSameField, leadText } from "./request-fields.ts";

/** Facts about the agent that sent a body, from its system prompt and tools. */
export interface BodyFacts {
  /** The beginning of the system prompt. */
  readonly lead: string;
  readonly toolNames: readonly string[];
  readonly shape: Shape;
}

/** Agents are told apart by the beginning of their system prompt. */
const LEAD_LENGTH = 8_000;

const known = new WeakMap<CutBody, BodyFacts>();

/** The facts of a body; reuses those of the body that it extends if both have the same prompt and tools. */
export function bodyFacts(api: Api, said: WireMessages): BodyFacts {
  const { cut, lead: count } = said;
  const { like } = cut;
  const earlier = like && known.get(like);
  const fields = [...api.leadFields, "tools", "functions"];
  if (earlier && cut.same >= count && fields.every((name) => isSameField(cut, like, name))) return earlier;
  const lead = leadOf(api, said).slice(0, LEAD_LENGTH);
  const toolNames = toolNamesOf(cut);
  return { lead, toolNames, shape: shapeOf({ lead, toolNames }) };
}

/** Remembers the facts of a kept body. */
export function rememberFacts(kept: CutBody, facts: BodyFacts): void {
  known.set(kept, facts);
}

/** The whole system prompt: the instruction fields, and the instruction elements before the first message. */
export function leadOf({ leadFields }: Api, { cut, lead, leadElements }: WireMessages): string {
  const fields = leadFields.flatMap((name) =>
    cut.fields.has(name) ? [leadText(fieldValue(cut, name))] : [],
  );
  const elements = Array.from({ length: lead }, (_, index) =>
    leadText(leadElements?.[index] ?? elementAt(cut, index)),
  );
  return [...fields, ...elements].join("\n");
}

/** Bytes of the system prompt. */
export function leadBytes(api: Api, said: WireMessages): number {
  return leadRanges(api, said).reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Ranges of the system prompt in the body. */
export function leadRanges({ leadFields }: Api, { cut, lead }: WireMessages): readonly Range[] {
  const fields = leadFields.flatMap((name) => cut.fields.get(name) ?? []);
  return [...fields, ...cut.elements.slice(0, lead)];
}

function toolNamesOf(cut: CutBody): readonly string[] {
  const tools = fieldValue(cut, "tools") ?? fieldValue(cut, "functions");
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: JsonObject | null) => {
    const { name, type, function: inner } = tool ?? {};
    const own = name ?? (inner as JsonObject | undefined)?.name ?? type;
    return typeof own === "string" ? [own] : [];
  });
}
