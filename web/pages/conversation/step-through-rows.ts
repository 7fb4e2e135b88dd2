/** Moves the focus to the next or previous row in view; the list then scrolls to it. */
export function stepThroughRows(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".talk [data-seq]")];
  const box = document.querySelector(".talk")?.getBoundingClientRect();
  if (rows.length === 0 || !box) return;
  rows.sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top);
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  const visible = rows.findIndex((row) => row.getBoundingClientRect().bottom > box.top + 8);
  const target = rows[focused >= 0 ? focused + step : Math.max(0, visible)];
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "nearest" });
}
