/** Keeps the head and tail of a text that is too long and states between them how much was cut. */
export function clipText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.floor(characters * 0.6);
  const tail = Math.max(0, characters - head);
  const cut = text.length - head - tail;
  const end = tail > 0 ? text.slice(-tail).toWellFormed() : "";
  return `${text.slice(0, head).toWellFormed()}\n[… ${cut} characters cut …]\n${end}`;
}
