/**
 * PostgreSQL's text has no null character. One is stored as two of a private character, and that character as itself
 * and its successor, so that every text comes back as it was. Other texts are stored as they are.
 */
const MARK = "\uE000";

export function toSqlText(text: string): string {
  if (!text.includes("\0") && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, `${MARK}\uE001`).replaceAll("\0", MARK + MARK);
}

export function fromSqlText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(/\uE000([\uE000\uE001])/g, (_, next) => (next === MARK ? "\0" : MARK));
}
