/** Components beyond this many standard deviations are clipped; wide enough that hardly any are. */
const WIDTH = 4.5;

/** Factor that scales the components of a unit vector to whole numbers from -127 to 127. */
function computeScale(dimensions: number): number {
  return (127 * Math.sqrt(dimensions)) / WIDTH;
}

/** Dimensions as stored, rounded up to a whole number of SIMD steps. */
export function padDimensions(dimensions: number): number {
  return Math.ceil(dimensions / 16) * 16;
}

/** Normalizes a vector and converts it to signed bytes; a zero vector stays zero. */
export function quantizeVector(vector: ArrayLike<number>): Int8Array {
  const bytes = new Int8Array(padDimensions(vector.length));
  let squares = 0;
  for (let axis = 0; axis < vector.length; axis++) squares += (vector[axis] as number) ** 2;
  if (!(squares > 0) || !Number.isFinite(squares)) return bytes;
  const factor = computeScale(vector.length) / Math.sqrt(squares);
  for (let axis = 0; axis < vector.length; axis++) {
    const value = Math.round((vector[axis] as number) * factor);
    bytes[axis] = Math.max(-127, Math.min(127, value));
  }
  return bytes;
}

/** The cosine that corresponds to an inner product of two quantized vectors. */
export function toCosine(product: number, dimensions: number): number {
  return product / computeScale(dimensions) ** 2;
}
