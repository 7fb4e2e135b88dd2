/** Bytes per SIMD step. */
const LANES = 16;
/** Maximum number of steps for which a query is held in registers. */
const MAX_HELD_STEPS = 16;

/** The WebAssembly opcodes used here; those of two and three bytes begin with the SIMD prefix. */
const OP = {
  loop: [0x03, 0x40],
  if: [0x04, 0x40],
  end: [0x0b],
  branchOuter: [0x0c, 0x01],
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  constant: 0x41,
  store: [0x36, 0x02, 0x00],
  lessUnsigned: [0x49],
  add: [0x6a],
  multiply: [0x6c],
  load: [0xfd, 0x00, 0x04],
  extractLane: [0xfd, 0x1b],
  addPairwise16: [0xfd, 0x7e],
  add16: [0xfd, 0x8e, 0x01],
  multiplyLow8: [0xfd, 0x9c, 0x01],
  multiplyHigh8: [0xfd, 0x9d, 0x01],
  add32: [0xfd, 0xae, 0x01],
} as const;

const I32 = 0x7f;
const V128 = 0x7b;

/** Locals of the function: its parameters, then its own. */
const [VECTORS, COUNT, OUT, END, VECTOR, SUM, HELD] = [0, 1, 2, 3, 4, 5, 6];

/**
 * A WebAssembly module with one function, `scan(vectors, count, out)`: writes the inner products of the query at
 * address 0 of the imported memory with `count` vectors of signed bytes, as 32-bit numbers. The module is assembled
 * here byte by byte, to avoid a build tool. Components must be from -127 to 127: the sum of two products then fits in
 * 16 bits, and every machine gives the same sums. `dimensions` must be a multiple of 16.
 */
export function buildScanModule(dimensions: number): Uint8Array<ArrayBuffer> {
  const type = [0x60, 3, I32, I32, I32, 0];
  const memory = [...encodeName("env"), ...encodeName("memory"), 0x02, 0x00, ...encodeUnsigned(1)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...encodeSection(1, [1, ...type]),
    ...encodeSection(2, [1, ...memory]),
    ...encodeSection(3, [1, 0]),
    ...encodeSection(7, [1, ...encodeName("scan"), 0x00, 0x00]),
    ...encodeSection(10, [1, ...encodeSized(encodeBody(dimensions))]),
  ]);
}

function encodeBody(dimensions: number): number[] {
  const steps = dimensions / LANES;
  const held = steps <= MAX_HELD_STEPS ? steps : 0;
  const get = (local: number) => [OP.get, ...encodeUnsigned(local)];
  const set = (local: number) => [OP.set, ...encodeUnsigned(local)];
  const constant = (value: number) => [OP.constant, ...encodeSigned(value)];
  const advance = (local: number, by: number) => [...get(local), ...constant(by), ...OP.add, ...set(local)];
  const loadQuery = (step: number) => [...constant(0), ...OP.load, ...encodeUnsigned(step * LANES)];
  const query = (step: number) => (held > 0 ? get(HELD + step) : loadQuery(step));
  const product = (step: number) => [
    ...query(step),
    ...get(VECTORS),
    ...[...OP.load, ...encodeUnsigned(step * LANES)],
    ...[OP.tee, ...encodeUnsigned(VECTOR)],
    ...OP.multiplyLow8,
    ...query(step),
    ...get(VECTOR),
    ...OP.multiplyHigh8,
    ...OP.add16,
    ...OP.addPairwise16,
    ...(step > 0 ? [...get(SUM), ...OP.add32] : []),
    ...set(SUM),
  ];
  const lane = (index: number) => [...get(SUM), ...OP.extractLane, index];
  const code = [
    ...[...get(VECTORS), ...get(COUNT), ...constant(dimensions), ...OP.multiply, ...OP.add, ...set(END)],
    ...Array.from({ length: held }, (_, step) => [...loadQuery(step), ...set(HELD + step)]).flat(),
    ...OP.loop,
    ...[...get(VECTORS), ...get(END), ...OP.lessUnsigned],
    ...OP.if,
    ...Array.from({ length: steps }, (_, step) => product(step)).flat(),
    ...get(OUT),
    ...[...lane(0), ...lane(1), ...OP.add, ...lane(2), ...OP.add, ...lane(3), ...OP.add],
    ...OP.store,
    ...advance(OUT, 4),
    ...advance(VECTORS, dimensions),
    ...OP.branchOuter,
    ...OP.end,
    ...OP.end,
    ...OP.end,
  ];
  const locals = [2, 1, I32, ...encodeUnsigned(2 + held), V128];
  return [...locals, ...code];
}

function encodeSection(id: number, content: readonly number[]): number[] {
  return [id, ...encodeSized(content)];
}

function encodeSized(content: readonly number[]): number[] {
  return [...encodeUnsigned(content.length), ...content];
}

function encodeName(text: string): number[] {
  return encodeSized([...new TextEncoder().encode(text)]);
}

function encodeUnsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest & 127) | 128);
  }
}

function encodeSigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const byte = rest & 127;
    if (rest >> 6 === 0 || rest >> 6 === -1) return [...bytes, byte];
    bytes.push(byte | 128);
  }
}
