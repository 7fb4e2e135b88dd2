/** A title without the marks of Markdown: titles often are the first words of a request. */
export function toPlainTitle(title: string): string {
  return title.replace(/\*\*|`/g, "").replace(/^#{1,6}\s+/, "");
}
