/** Character classes of a tokenizer. */
export const SCRIPT = {
  space: 0,
  lineBreak: 1,
  lower: 2,
  upper: 3,
  digit: 4,
  mark: 5,
  han: 6,
  kana: 7,
  hangul: 8,
  accented: 9,
  cyrillic: 10,
  other: 11,
  wideMark: 12,
  symbol: 13,
} as const;

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => scriptOfAscii(code));

/** The class of a UTF-16 unit. Surrogates count as symbols: most of them are emoji. */
export function scriptOf(unit: number): number {
  if (unit < 128) return ASCII[unit] as number;
  if (unit < 0x250) return unit < 0xc0 ? SCRIPT.symbol : SCRIPT.accented;
  if (unit >= 0x4e00 && unit < 0xa000) return SCRIPT.han;
  if (unit < 0x2000) return scriptOfAlphabet(unit);
  if (unit < 0x2e80) return SCRIPT.symbol;
  return scriptOfEast(unit);
}

function scriptOfAscii(code: number): number {
  if (code === 10 || code === 13) return SCRIPT.lineBreak;
  if (code <= 32) return SCRIPT.space;
  if (code >= 48 && code <= 57) return SCRIPT.digit;
  if (code >= 65 && code <= 90) return SCRIPT.upper;
  if (code >= 97 && code <= 122) return SCRIPT.lower;
  return SCRIPT.mark;
}

function scriptOfAlphabet(unit: number): number {
  if (unit >= 0x400 && unit < 0x530) return SCRIPT.cyrillic;
  if (unit >= 0x1100 && unit < 0x1200) return SCRIPT.hangul;
  return unit >= 0x1e00 && unit < 0x1f00 ? SCRIPT.accented : SCRIPT.other;
}

function scriptOfEast(unit: number): number {
  if (unit >= 0x3040 && unit < 0x3100) return SCRIPT.kana;
  if (unit >= 0xac00 && unit < 0xd7b0) return SCRIPT.hangul;
  if (unit >= 0x3000 && unit < 0x3040) return SCRIPT.wideMark;
  if (unit >= 0xff00) return SCRIPT.wideMark;
  return (unit >= 0x2e80 && unit < 0x4e00) || (unit >= 0xf900 && unit < 0xfb00) ? SCRIPT.han : SCRIPT.symbol;
}
