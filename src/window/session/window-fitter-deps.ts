import type { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import type { ModelCatalog } from "../models/model-catalog.ts";
import type { PageSource } from "../paging/page-source.ts";
import type { WindowCompactor } from "./window-compactor.ts";

/** The memories of an agent. */
export interface MemoriesSource {
  readonly agent: string;
  /** Returns them as a section of the prompt; undefined if there are none. */
  readonly read: () => Promise<string | undefined>;
}

/** Dependencies of a fitting. */
export interface WindowFitterDeps {
  readonly session: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  /** Resolves when everything appended so far is committed. */
  readonly flush: () => Promise<void>;
  readonly catalog: ModelCatalog;
  /** The agent whose memories are sent. */
  readonly memories: MemoriesSource | undefined;
  readonly compactor: WindowCompactor | undefined;
  /** Finds content that has left the window. */
  readonly pageSource: PageSource;
}
