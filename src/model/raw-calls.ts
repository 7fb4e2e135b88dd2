import type { Json } from "./json.ts";
import type { PartInput } from "./part.ts";

/** The id of a raw call of a foreign format, such as an approval request; undefined for other parts. */
export function findRawCallId(part: PartInput): string | undefined {
  return findRawId(part, CALL);
}

/** The id of the raw call that a part answers. */
export function findRawAnswerId(part: PartInput): string | undefined {
  return findRawId(part, ANSWER);
}

/** Patterns that recognize a raw value by its type and locate its id. */
interface Kind {
  readonly type: RegExp;
  readonly approval: string;
  readonly approvalField: string;
  /** The same for a JSON preview of head and tail. */
  readonly preview: RegExp;
  readonly previewId: RegExp;
}

const CALL: Kind = {
  type: /_call$/,
  approval: "mcp_approval_request",
  approvalField: "id",
  preview: /"type":"\w+_call"/,
  previewId: /"call_id":"([^"]+)"/,
};

const ANSWER: Kind = {
  type: /_output$/,
  approval: "mcp_approval_response",
  approvalField: "approval_request_id",
  preview: /"type":"(?:\w+_call_output|tool_search_output|mcp_approval_response)"/,
  previewId: /"(?:call_id|approval_request_id)":"([^"]+)"/,
};

function findRawId(part: PartInput, kind: Kind): string | undefined {
  if (part.type === "raw") return findId(part.value, kind);
  if (part.type !== "blob" || part.of !== "raw" || !kind.preview.test(part.preview ?? "")) return undefined;
  return kind.previewId.exec(part.preview ?? "")?.[1];
}

function findId(value: Json, { type, approval, approvalField }: Kind): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as { readonly [field: string]: Json };
  if (typeof fields.type !== "string") return undefined;
  const id = fields.type === approval ? fields[approvalField] : type.test(fields.type) && fields.call_id;
  return typeof id === "string" ? id : undefined;
}
