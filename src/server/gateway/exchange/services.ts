import type { Kernel } from "../../../kernel/index.ts";
import type { SpendingServices } from "../budget/request-spending.ts";
import type { CacheWatch } from "../cache/cache-watch.ts";
import type { CallServices } from "../call/build-call-request.ts";
import type { KnownCompactions } from "../call/compacted-request.ts";
import type { ThreadServices } from "../lookup/find-thread.ts";
import type { LoopStates } from "../loops/loop-states.ts";
import type { RequestServices } from "../request/read-request.ts";
import type { StoredItems } from "../thread/response-ids.ts";
import type { UpstreamServices } from "../upstream/upstream-services.ts";

/** Services that all requests of a gateway share. */
export interface Services extends RequestServices, ThreadServices, CallServices, UpstreamServices {
  readonly kernel: Kernel;
  readonly caches: CacheWatch;
  readonly loops: LoopStates;
  readonly compactions: KnownCompactions;
  readonly storedItems: StoredItems;
  readonly spending: SpendingServices;
  /** Called once for each budget and period that is nearly used up. */
  readonly onBudgetWarning: (text: string) => void;
  /** Called when a request continues although the store fails. */
  readonly onStoreFailure: (error: unknown) => void;
}
