let graphemes: Intl.Segmenter | undefined;
const PLAIN = /^[\u0020-\u007e]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]$/u;
const WIDE_EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[0-9#*]\ufe0f\u20e3/u;

/** Code point ranges, other than emoji, whose characters take two columns (East Asian Width W and F). */
const WIDE: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2fb],
  [0x1f200, 0x1f265],
  [0x20000, 0x2fffd],
  [0x30000, 0x3fffd],
];

/** Counts the terminal columns of a text without control characters. */
export function measureWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of splitGraphemes(text)) width += measureGrapheme(segment);
  return width;
}

/** Cuts a text to `columns` and marks the cut with "…". */
export function fitText(text: string, columns: number): string {
  if (text.length <= columns && PLAIN.test(text)) return text;
  if (columns < 1) return "";
  let width = 0;
  let roomForDots = 0;
  for (const { segment, index } of splitGraphemes(text)) {
    width += measureGrapheme(segment);
    if (width <= columns - 1) roomForDots = index + segment.length;
    if (width > columns) return `${text.slice(0, roomForDots)}…`;
  }
  return text;
}

/** Pads a text with spaces to `columns`. */
export function padText(text: string, columns: number, align: "left" | "right" = "left"): string {
  const spaces = " ".repeat(Math.max(0, columns - measureWidth(text)));
  return align === "left" ? text + spaces : spaces + text;
}

/** The segmenter is created on first use, because it takes longer to load than most commands to run. */
function splitGraphemes(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return graphemes.segment(text);
}

function measureGrapheme(grapheme: string): number {
  if (WIDE_EMOJI.test(grapheme)) return 2;
  for (const character of grapheme) {
    if (INVISIBLE.test(character)) continue;
    const code = character.codePointAt(0) as number;
    return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
  }
  return 0;
}
