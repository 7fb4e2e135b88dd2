/** What is used of WebAssembly, which every Node has and the types for Node leave to the browser's. */
export interface WebAssemblyParts {
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
  /** By pages of 64 KiB; what was `buffer` before is of no use afterwards. */
  grow(pages: number): number;
}

/** WebAssembly as Node has it. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyParts }).WebAssembly;
