/** Character classes of a tokenizer. */
export const CHARACTER_CLASS = {
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
  thai: 14,
  emoji: 15,
} as const;

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => classifyAscii(code));

/** The class of a UTF-16 unit. Surrogates count as emoji, because most of them are. */
export function classifyCharacter(unit: number): number {
  if (unit < 128) return ASCII[unit] as number;
  if (unit < 0x250) return unit < 0xc0 ? CHARACTER_CLASS.symbol : CHARACTER_CLASS.accented;
  if (unit >= 0x4e00 && unit < 0xa000) return CHARACTER_CLASS.han;
  if (unit < 0x2000) return classifyAlphabet(unit);
  if (unit < 0x2e80) return CHARACTER_CLASS.symbol;
  return classifyEastAsian(unit);
}

function classifyAscii(code: number): number {
  if (code === 10 || code === 13) return CHARACTER_CLASS.lineBreak;
  if (code <= 32) return CHARACTER_CLASS.space;
  if (code >= 48 && code <= 57) return CHARACTER_CLASS.digit;
  if (code >= 65 && code <= 90) return CHARACTER_CLASS.upper;
  if (code >= 97 && code <= 122) return CHARACTER_CLASS.lower;
  return CHARACTER_CLASS.mark;
}

function classifyAlphabet(unit: number): number {
  if (unit >= 0xe00 && unit < 0xf00) return CHARACTER_CLASS.thai;
  if (unit >= 0x400 && unit < 0x530) return CHARACTER_CLASS.cyrillic;
  if (unit >= 0x1100 && unit < 0x1200) return CHARACTER_CLASS.hangul;
  return unit >= 0x1e00 && unit < 0x1f00 ? CHARACTER_CLASS.accented : CHARACTER_CLASS.other;
}

function classifyEastAsian(unit: number): number {
  if (unit >= 0xd800 && unit < 0xe000) return CHARACTER_CLASS.emoji;
  if (unit >= 0x3040 && unit < 0x3100) return CHARACTER_CLASS.kana;
  if (unit >= 0xac00 && unit < 0xd7b0) return CHARACTER_CLASS.hangul;
  if (unit >= 0x3000 && unit < 0x3040) return CHARACTER_CLASS.wideMark;
  if (unit >= 0xff00) return CHARACTER_CLASS.wideMark;
  return (unit >= 0x2e80 && unit < 0x4e00) || (unit >= 0xf900 && unit < 0xfb00)
    ? CHARACTER_CLASS.han
    : CHARACTER_CLASS.symbol;
}
