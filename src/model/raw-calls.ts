import type { Json } from "./json.ts";
import type { PartInput } from "./part.ts";

/**
 * The id of a raw call of a foreign format, such as an approval request or a call of a tool that the provider runs;
 * undefined for other parts.
 */
export function findRawCallId(part: PartInput): string | undefined {
  return findRawId(part, CALLS);
}

/** The id of the raw call that a part answers. */
export function findRawAnswerId(part: PartInput): string | undefined {
  return findRawId(part, ANSWERS);
}

/** The id of the call that a raw result of a provider's own tool answers; its API refuses it without the call. */
export function findServerAnswerId(part: PartInput): string | undefined {
  return findRawId(part, [SERVER_ANSWER]);
}

/** Recognizes a raw value by its type and locates its id. */
interface Form {
  readonly type: RegExp;
  readonly field: string;
  /** The same for a JSON preview of head and tail. */
  readonly preview: RegExp;
  readonly previewId: RegExp;
}

function createForm(type: string, field: string, previewType = type): Form {
  return {
    type: new RegExp(`^${type}$`),
    field,
    preview: new RegExp(`"type":"${previewType}"`),
    previewId: new RegExp(`"${field}":"([^"]+)"`),
  };
}

const SERVER_ANSWER = createForm("\\w+_tool_result", "tool_use_id");

const CALLS: readonly Form[] = [
  createForm("(?:server|mcp)_tool_use", "id"),
  createForm("mcp_approval_request", "id"),
  createForm("\\w+_call", "call_id"),
];

const ANSWERS: readonly Form[] = [
  SERVER_ANSWER,
  createForm("mcp_approval_response", "approval_request_id"),
  // Blocks inside a result may be named like an output, so a preview needs the exact names.
  createForm("\\w+_output", "call_id", "(?:\\w+_call|tool_search)_output"),
];

function findRawId(part: PartInput, forms: readonly Form[]): string | undefined {
  if (part.type === "raw") return findId(part.value, forms);
  if (part.type !== "blob" || part.of !== "raw" || part.preview === undefined) return undefined;
  const { preview } = part;
  const form = forms.find((known) => known.preview.test(preview));
  return form?.previewId.exec(preview)?.[1];
}

function findId(value: Json, forms: readonly Form[]): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as { readonly [field: string]: Json };
  const { type } = fields;
  if (typeof type !== "string") return undefined;
  const form = forms.find((known) => known.type.test(type));
  const id = form && fields[form.field];
  return typeof id === "string" ? id : undefined;
}
