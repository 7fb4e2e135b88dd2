import type { SessionId } from "../../index.ts";
import type { BodyInput } from "../../log-entry.ts";
import type { EditInput } from "../../window-entry.ts";
import type { ForeignEdit, RecordBody, Span } from "../port/item.ts";

/** Session state for resolving record ids. */
interface RecordResolution {
  readonly session: SessionId;
  readonly author: string;
  /** Returns the seq at which a record was or will be appended. */
  readonly seqOf: (record: string) => number | undefined;
  /** Returns the stretches of the line from one entry through another, or through the last one. */
  readonly between: (from: number, to?: number) => readonly (readonly [from: number, to: number])[];
}

/** Replaces the record ids in a body with seqs; undefined if a record is missing. */
export function resolveBody(body: RecordBody, resolution: RecordResolution): BodyInput | undefined {
  if (body.kind === "raw") return { kind: "raw", format: resolution.author, value: body.value };
  if (body.kind !== "overlay") return body;
  const edit = resolveEdit(body.edit, resolution);
  return edit && { ...body, author: resolution.author, edit };
}

function resolveEdit(edit: ForeignEdit, resolution: RecordResolution): EditInput | undefined {
  if (edit.type === "replace") {
    if ("callId" in edit.target) return { ...edit, target: edit.target };
    const seq = resolution.seqOf(edit.target.record);
    if (seq === undefined) return undefined;
    const { part } = edit.target;
    return { ...edit, target: part === undefined ? { seq } : { seq, part } };
  }
  const ranges = edit.spans.flatMap((span) => resolveSpan(span, resolution));
  if (ranges.length === 0) return undefined;
  if (edit.type === "hide") return { type: "hide", ranges };
  const entry = edit.record === undefined ? undefined : resolution.seqOf(edit.record);
  return {
    type: "summarize",
    ranges,
    ...(edit.messages && { messages: edit.messages }),
    ...(entry !== undefined && { entry }),
  };
}

function resolveSpan(span: Span, { session, seqOf, between }: RecordResolution) {
  const from = span.from === undefined ? 1 : seqOf(span.from);
  const to = span.through === undefined ? undefined : seqOf(span.through);
  if (from === undefined || (span.through !== undefined && to === undefined)) return [];
  return between(from, to).map(([first, last]) => ({ session, from: first, to: last }));
}
