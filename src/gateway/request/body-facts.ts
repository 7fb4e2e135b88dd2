import type { Wire, WireObject } from "../../wire/wire.ts";
import { buildShape } from "../identity/agent-shape.ts";
import { findProject } from "../identity/find-project.ts";
import type { BodyFacts } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";
import { type CutBody, fieldValue } from "./cut-body.ts";
import { getLeadText, isSameField } from "./request-fields.ts";
import { parseElement, type RequestMessages } from "./request-messages.ts";

/** Agents are told apart by the beginning of their system prompt. */
const LEAD_LENGTH = 8_000;

/** The facts of a body; reuses those of the body that it extends if both have the same prompt and tools. */
export function readBodyFacts(api: Wire, messages: RequestMessages): BodyFacts {
  const { cut, lead: count } = messages;
  const { like } = cut;
  const earlier = like?.memo.facts;
  const fields = [...api.leadFields, "tools", "functions"];
  if (earlier && cut.same >= count && fields.every((name) => isSameField(cut, like, name))) {
    cut.memo.facts = earlier;
    return earlier;
  }
  const whole = readLead(api, messages);
  const lead = whole.slice(0, LEAD_LENGTH);
  const toolNames = readToolNames(cut);
  const project = findProject([whole]);
  const shape = buildShape({ lead, toolNames });
  const facts = { lead, toolNames, shape, ...(project !== undefined && { project }) };
  cut.memo.facts = facts;
  return facts;
}

/** The whole system prompt: the instruction fields, and the instruction elements before the first message. */
export function readLead({ leadFields }: Wire, { cut, lead, leadElements }: RequestMessages): string {
  const fields = leadFields.flatMap((name) =>
    cut.fields.has(name) ? [getLeadText(fieldValue(cut, name))] : [],
  );
  const elements = Array.from({ length: lead }, (_, index) =>
    getLeadText(leadElements?.[index] ?? parseElement(cut, index)),
  );
  return [...fields, ...elements].join("\n");
}

/** Ranges of the system prompt in the body. */
export function leadRanges({ leadFields }: Wire, { cut, lead }: RequestMessages): readonly ByteRange[] {
  const fields = leadFields.flatMap((name) => cut.fields.get(name) ?? []);
  return [...fields, ...cut.elements.slice(0, lead)];
}

function readToolNames(cut: CutBody): readonly string[] {
  const tools = fieldValue(cut, "tools") ?? fieldValue(cut, "functions");
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: WireObject | null) => {
    const { name, type, function: inner } = tool ?? {};
    const own = name ?? (inner as WireObject | undefined)?.name ?? type;
    return typeof own === "string" ? [own] : [];
  });
}
