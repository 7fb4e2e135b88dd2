import type { Kernel, MessageInput } from "../../../kernel/index.ts";
import type { CacheWatch } from "../cache/cache-watch.ts";
import type { ModelLimits } from "../call/build-call-request.ts";
import type { KnownCompactions } from "../call/compacted-request.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { LoopStates } from "../limits/loop-states.ts";
import type { SpendingServices } from "../limits/request-spending.ts";
import type { Threads } from "../lookup/threads.ts";
import type { Spans } from "../observe/spans.ts";
import type { ReferencedItems } from "../request/referenced-items.ts";
import type { SeenBodies } from "../request/seen-bodies.ts";
import type { ResponseIds, StoredItems } from "../thread/response-ids.ts";
import type { ConnectionAgents, PackedBodies } from "../upstream/send-upstream.ts";

/** Services that all requests of a gateway share. */
export interface Services {
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly kernel: Kernel;
  readonly threads: Threads;
  readonly bodies: SeenBodies;
  readonly caches: CacheWatch;
  readonly modelLimits: ModelLimits;
  readonly loops: LoopStates;
  readonly responses: ResponseIds;
  readonly items: ReferencedItems;
  readonly storedItems: StoredItems;
  readonly compactions: KnownCompactions;
  readonly agents: ConnectionAgents;
  readonly packedBodies: PackedBodies;
  readonly spans: Spans;
  readonly spending: SpendingServices;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (messages: readonly MessageInput[], signal?: AbortSignal) => Promise<void>;
  /** True for a token of the gateway itself. */
  readonly isGatewayToken: (credential: string) => boolean;
  /** Called once for each budget and period that is nearly used up. */
  readonly onBudgetWarning: (text: string) => void;
  /** Called when a request continues although the store fails. */
  readonly onStoreFailure: (error: unknown) => void;
}
