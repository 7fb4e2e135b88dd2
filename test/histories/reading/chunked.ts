import fc from "fast-check";

/** Bytes with random cut positions. */
export function chunkedBytes(bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<{ bytes: Buffer; chunks: Buffer[] }> {
  return bytes.chain((whole) =>
    fc.array(fc.nat(whole.length), { maxLength: 12 }).map((cuts) => ({
      bytes: whole,
      chunks: chunksOf(whole, cuts),
    })),
  );
}

/** The pieces of bytes between cuts; some may be empty. */
export function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

/** Yields chunks from memory that is reused for the next one, as file reads do. */
export async function* reusing(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(Math.max(1, ...chunks.map(({ length }) => length)));
  for (const chunk of chunks) {
    chunk.copy(memory);
    yield memory.subarray(0, chunk.length);
    memory.fill(0xff);
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
