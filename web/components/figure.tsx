import type { ComponentChildren } from "preact";

interface FigureProps {
  readonly label: string;
  readonly value: string;
  /** The basis of the value, such as "estimated, of $12.40 without edits". */
  readonly note?: ComponentChildren;
  /** Leads to the rows behind the value. */
  readonly href?: string;
}

/** One number with its name and its basis. */
export function Figure({ label, value, note, href }: FigureProps) {
  const body = (
    <>
      <span class="figure-label">{label}</span>
      <strong class="figure-value">{value}</strong>
      {note && <span class="figure-note">{note}</span>}
    </>
  );
  return href ? (
    <a class="figure card" href={href}>
      {body}
    </a>
  ) : (
    <div class="figure card">{body}</div>
  );
}
