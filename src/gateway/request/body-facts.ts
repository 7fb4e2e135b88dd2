import type { Wire, WireObject } from "../../wire/wire.ts";
import { buildShape } from "../identity/agent-shape.ts";
import { findProject } from "../identity/find-project.ts";
import { copyBytes } from "./body-frame.ts";
import type { BodyFacts } from "./body-memo.ts";
import type { ByteRange } from "./byte-range.ts";
import { type CutBody, fieldValue } from "./cut-body.ts";
import { getLeadText, isSameField } from "./request-fields.ts";
import { parseElement, type RequestMessages } from "./request-messages.ts";

/** Agents are told apart by the beginning of their system prompt. */
const LEAD_LENGTH = 8_000;

/** Instruction elements up to this size are kept with their frame. */
const MAX_LEAD_BYTES = 64 * 1_024;

/** The facts of a body; reuses those of a body that it extends, or shares its frame with, if the prompt is the same. */
export function readBodyFacts(api: Wire, messages: RequestMessages): BodyFacts {
  const { cut } = messages;
  const memo = cut.frame?.memo;
  const lead = memo && findLeadBytes(messages);
  const facts =
    (lead && memo.facts && lead.equals(memo.facts.lead) ? memo.facts.facts : undefined) ??
    findEarlierFacts(api, messages) ??
    parseFacts(api, messages);
  cut.memo.facts = facts;
  if (lead && memo.facts?.facts !== facts) memo.facts = { lead: copyBytes(lead), facts };
  return facts;
}

/** The bytes of the instruction elements; undefined if they are large. */
function findLeadBytes({ cut, lead }: RequestMessages): Buffer | undefined {
  const [first, last] = [cut.elements[0], cut.elements[lead - 1]];
  if (!first || !last) return NO_LEAD;
  return last.to - first.from <= MAX_LEAD_BYTES ? cut.bytes.subarray(first.from, last.to) : undefined;
}

const NO_LEAD = Buffer.alloc(0);

/** The facts of the body that this one extends, if both have the same prompt and tools. */
function findEarlierFacts(api: Wire, { cut, lead }: RequestMessages): BodyFacts | undefined {
  const { like, same } = cut;
  const earlier = like?.memo.facts;
  if (!earlier || same < lead) return undefined;
  const fields = [...api.leadFields, "tools", "functions"];
  return fields.every((name) => isSameField(cut, like, name)) ? earlier : undefined;
}

function parseFacts(api: Wire, messages: RequestMessages): BodyFacts {
  const whole = readLead(api, messages);
  const lead = whole.slice(0, LEAD_LENGTH);
  const toolNames = readToolNames(messages.cut);
  const project = findProject([whole]);
  const shape = buildShape({ lead, toolNames });
  return { lead, toolNames, shape, ...(project !== undefined && { project }) };
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
