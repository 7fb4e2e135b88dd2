/** Shows the next or previous edit of the chart. */
export function stepThroughEdits(step: 1 | -1): void {
  document.querySelector<HTMLButtonElement>(`[data-edit-step="${step}"]`)?.click();
}
