const NOT_ASCII = /[^\p{ASCII}]/u;
const LATIN_MARKS = /[\u0300-\u036f]/g;

/** One spelling for what reads the same: compatibility forms joined, case and Latin accents gone. */
export function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(LATIN_MARKS, "").normalize("NFKC").toLowerCase();
}
