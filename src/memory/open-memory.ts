import type { Log } from "../log/log.ts";
import type { Census } from "../model/scope.ts";
import type { Embedder } from "./embed/embedder.ts";
import { packagedMeaning } from "./embed/packaged.ts";
import { Memory } from "./memory.ts";

/** How memory is searched by meaning. */
export interface MemoryOptions {
  /** The one that comes with us by default; null to search by words alone. */
  readonly embedder?: Embedder | null;
  /** Bytes of vectors held in memory at most; 256 MB by default. */
  readonly maxVectorBytes?: number;
  readonly onWarning?: (warning: string) => void;
}

/** Memory over a log. Closeness of single words always comes from the embedder of the package, whichever one makes vectors. */
export function openMemory(log: Log, census: Census, { embedder, ...options }: MemoryOptions): Memory {
  if (embedder === null) return new Memory({ log, census, embedder: undefined, ...options });
  const packaged = packagedMeaning({ census });
  return new Memory({ log, census, ...packaged, ...(embedder && { embedder }), ...options });
}
