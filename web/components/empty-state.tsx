import type { ComponentChildren } from "preact";

/** Says that there is nothing yet, and what to do about it. */
export function EmptyState({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {hint && <p class="dim">{hint}</p>}
      {children && <p class="actions">{children}</p>}
    </section>
  );
}
