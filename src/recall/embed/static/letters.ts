/** Character classes of the tokenizer. The ranges are fixed, so that all machines and Unicode versions agree. */
export const SEPARATOR = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const EAST_ASIAN_LETTER = 4;
export const IGNORED = 5;
export const APOSTROPHE = 6;

const LETTER_RANGES: readonly (readonly [number, number])[] = [
  [0x61, 0x7a],
  [0xaa, 0xaa],
  [0xb5, 0xb5],
  [0xba, 0xba],
  [0xdf, 0xf6],
  [0xf8, 0x2af],
  [0x370, 0x1fff],
  [0x2c00, 0x2dff],
  [0xa000, 0xa4cf],
  [0xa640, 0xa7ff],
];

const EAST_ASIAN_RANGES: readonly (readonly [number, number])[] = [
  [0x3005, 0x3007],
  [0x3041, 0x3096],
  [0x309d, 0x309f],
  [0x30a1, 0x30fa],
  [0x30fc, 0x30ff],
  [0x3105, 0x312f],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff66, 0xff9d],
];

const IGNORED_RANGES: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x200b, 0x200d],
  [0x2060, 0x2060],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];

/** Class and folded form of every UTF-16 unit. */
interface LetterTables {
  readonly classes: Uint8Array;
  readonly folded: Uint16Array;
}

/** The tables of the tokenizer; full-width forms fold to ASCII, capitals to lower case. */
export function buildLetterTables(): LetterTables {
  const classes = new Uint8Array(0x10000);
  const folded = new Uint16Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) folded[unit] = unit;
  fillRanges(classes, LETTER_RANGES, LOWER);
  fillRanges(classes, EAST_ASIAN_RANGES, EAST_ASIAN_LETTER);
  fillRanges(classes, [[0x30, 0x39]], DIGIT);
  for (let unit = 0x41; unit < 0x2000; unit++) {
    const small = String.fromCharCode(unit).toLowerCase().charCodeAt(0);
    if (small === unit || (unit > 0x7f && classes[small] !== LOWER)) continue;
    folded[unit] = small;
    classes[unit] = UPPER;
  }
  fillRanges(classes, IGNORED_RANGES, IGNORED);
  classes[0x27] = APOSTROPHE;
  classes[0x2019] = APOSTROPHE;
  folded[0x2019] = 0x27;
  for (let offset = 0x10; offset <= 0x5a; offset++) {
    const ascii = 0x20 + offset;
    const full = 0xff00 + offset;
    const kind = classes[ascii] as number;
    if (kind !== LOWER && kind !== UPPER && kind !== DIGIT) continue;
    classes[full] = kind;
    folded[full] = folded[ascii] as number;
  }
  return { classes, folded };
}

function fillRanges(classes: Uint8Array, ranges: readonly (readonly [number, number])[], kind: number): void {
  for (const [first, last] of ranges) classes.fill(kind, first, last + 1);
}
