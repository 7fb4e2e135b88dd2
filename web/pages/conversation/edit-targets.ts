/** A single edit, as far as the page shows it. The API leaves the content of edits open. */
export interface SingleEdit {
  readonly type: "replace" | "hide" | "summarize";
  readonly ranges?: readonly { readonly from: number; readonly to: number }[];
  readonly target?: { readonly seq?: number; readonly callId?: string };
}

/** The single edits of an edit: those of a plan, or itself; none for a revert. */
export function listSingleEdits(edit: Readonly<Record<string, unknown>>): readonly SingleEdit[] {
  if (edit.type === "plan") return Array.isArray(edit.edits) ? (edit.edits as readonly SingleEdit[]) : [];
  return edit.type === "revert" ? [] : [edit as unknown as SingleEdit];
}

/** Names the entries of an edit, such as "#12–40, #44", and the first of them. */
export function describeEdit({ ranges = [], target }: SingleEdit): {
  readonly label: string;
  readonly seq: number | undefined;
} {
  if (target?.seq !== undefined) return { label: `#${target.seq}`, seq: target.seq };
  if (target?.callId !== undefined) return { label: target.callId, seq: undefined };
  const shown = ranges.filter(({ from, to }) => from <= to);
  const label = shown.map(({ from, to }) => (from === to ? `#${from}` : `#${from}–${to}`)).join(", ");
  return { label, seq: shown[0]?.from };
}
