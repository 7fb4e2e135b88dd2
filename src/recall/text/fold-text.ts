const NOT_ASCII = /[^\p{ASCII}]/u;
const LATIN_MARKS = /[\u0300-\u036f]/g;

/** One spelling for equivalent text: compatibility forms unified, case and Latin accents removed. */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(LATIN_MARKS, "").normalize("NFKC").toLowerCase();
}
