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
export interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
  /** Grows by pages of 64 KiB; the previous `buffer` becomes unusable. */
  grow(pages: number): number;
}

/** WebAssembly of the current runtime. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
