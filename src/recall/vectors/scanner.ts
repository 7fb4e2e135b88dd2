import { buildScanModule } from "./scan-module.ts";

/** The part of WebAssembly that is used; Node's type definitions leave it to the browser's. */
interface WebAssemblyApi {
  readonly Memory: new (size: { readonly initial: number }) => WebAssemblyMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: WebAssemblyMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Memory that JavaScript and a module share. */
interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
  /** Grows by pages of 64 KiB; the previous `buffer` becomes unusable. */
  grow(pages: number): number;
}

/** WebAssembly of the current runtime. */
const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

const PAGE_BYTES = 65_536;

type Scan = (vectors: number, count: number, out: number) => void;

/** Vectors in the memory of a WebAssembly module, compared with a query at the speed of the memory. */
export class Scanner {
  readonly dimensions: number;
  readonly #memory: WebAssemblyMemory;
  readonly #scan: Scan;
  /** Address of the products, and how many there is room for. */
  readonly #out: number;
  readonly #maxScanned: number;
  /** The first byte after all memory in use. */
  #end: number;
  /** The whole memory; replaced when it grows. */
  #bytes: Int8Array;

  /** `dimensions` must be a multiple of 16; a call compares at most `mostScanned` vectors. */
  constructor(dimensions: number, mostScanned: number) {
    this.dimensions = dimensions;
    this.#maxScanned = mostScanned;
    this.#out = Math.ceil(dimensions / 64) * 64;
    this.#end = this.#out + mostScanned * 4;
    this.#memory = new webAssembly.Memory({ initial: Math.ceil(this.#end / PAGE_BYTES) });
    this.#bytes = new Int8Array(this.#memory.buffer);
    const module = new webAssembly.Module(buildScanModule(dimensions));
    const instance = new webAssembly.Instance(module, { env: { memory: this.#memory } });
    this.#scan = instance.exports.scan as Scan;
  }

  /** Reserves room for `count` vectors permanently; returns its address. */
  reserve(count: number): number {
    const address = this.#end;
    this.#end += count * this.dimensions;
    this.#growTo(this.#end);
    return address;
  }

  /** Prepares room for `count` further vectors at once, which is faster than growing for each. */
  expect(count: number): void {
    this.#growTo(this.#end + count * this.dimensions);
  }

  #growTo(sizeBytes: number): void {
    const missing = sizeBytes - this.#bytes.length;
    if (missing <= 0) return;
    this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.#bytes = new Int8Array(this.#memory.buffer);
  }

  /** Writes consecutive vectors to an address. */
  put(address: number, vectors: Int8Array): void {
    this.#bytes.set(vectors, address);
  }

  /** Size of the WebAssembly memory. */
  get sizeBytes(): number {
    return this.#bytes.length;
  }

  setQuery(query: Int8Array): void {
    this.put(0, query);
  }

  /** Inner products of the query with `count` vectors from an address on; valid until the next call. */
  scan(address: number, count: number): Int32Array {
    if (count > this.#maxScanned)
      throw new RangeError(`${count} vectors; at most ${this.#maxScanned} in one call.`);
    this.#scan(address, count, this.#out);
    return new Int32Array(this.#memory.buffer, this.#out, count);
  }
}
