import type { Json } from "./json.ts";
import type { PartInput } from "./part.ts";

/** The id of a call of a kind that only its format knows, as one that asks for approval; undefined for any other part. */
export function rawCallId(part: PartInput): string | undefined {
  return rawId(part, CALL);
}

/** The id of such a call that a part answers. */
export function rawAnswerId(part: PartInput): string | undefined {
  return rawId(part, ANSWER);
}

/** What a raw value is by its type, and by which field it is known. */
interface Kind {
  readonly type: RegExp;
  readonly approval: string;
  readonly approvalField: string;
  /** The same where only the beginning and the end of its JSON are at hand. */
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

function rawId(part: PartInput, kind: Kind): string | undefined {
  if (part.type === "raw") return idIn(part.value, kind);
  if (part.type !== "blob" || part.of !== "raw" || !kind.preview.test(part.preview ?? "")) return undefined;
  return kind.previewId.exec(part.preview ?? "")?.[1];
}

function idIn(value: Json, { type, approval, approvalField }: Kind): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as { readonly [field: string]: Json };
  if (typeof fields.type !== "string") return undefined;
  const id = fields.type === approval ? fields[approvalField] : type.test(fields.type) && fields.call_id;
  return typeof id === "string" ? id : undefined;
}
