import type { Log } from "../log/log.ts";
import type { Census } from "../model/lifetime.ts";
import type { Embedder } from "./embed/embedder.ts";
import { createPackagedModel } from "./embed/packaged-model.ts";
import { Memory } from "./memory.ts";

/** Options of the search by meaning. */
export interface MemoryOptions {
  /** Default: the packaged embedder; null to search only by words. */
  readonly embedder?: Embedder | null;
  /** Maximum bytes of vectors held in memory; default 256 MB. */
  readonly maxVectorBytes?: number;
  readonly onWarning?: (warning: string) => void;
}

/**
 * Opens memory on a log. Word vectors always come from the packaged embedder, whichever embedder is used for chunks.
 */
export function openMemory(log: Log, census: Census, { embedder, ...options }: MemoryOptions): Memory {
  if (embedder === null) return new Memory({ log, census, embedder: undefined, ...options });
  const packaged = createPackagedModel({ census });
  return new Memory({ log, census, ...packaged, ...(embedder && { embedder }), ...options });
}
