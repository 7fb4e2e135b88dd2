import type { IncomingMessage, ServerResponse } from "node:http";
import type { Kernel, MessageInput } from "../../index.ts";
import type { KnownCompactions } from "../call/known-compactions.ts";
import type { ModelLimits } from "../call/model-limits.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Principal } from "../door/principal.ts";
import type { Route } from "../door/route.ts";
import type { LoopStates } from "../loops/loop-states.ts";
import type { Spans } from "../observe/spans.ts";
import type { Trace } from "../observe/trace.ts";
import type { RecentBodies } from "../request/recent-bodies.ts";
import type { ReferencedItems } from "../request/referenced-items.ts";
import type { ResponseIds } from "../thread/response-ids.ts";
import type { Threads } from "../thread/threads.ts";
import type { ConnectionAgents } from "../upstream/connection-agents.ts";

/** Services that all requests of a gateway share. */
export interface Services {
  readonly kernel: Kernel;
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly threads: Threads;
  readonly bodies: RecentBodies;
  readonly modelLimits: ModelLimits;
  readonly loops: LoopStates;
  readonly responses: ResponseIds;
  readonly items: ReferencedItems;
  readonly compactions: KnownCompactions;
  readonly agents: ConnectionAgents;
  readonly spans: Spans;
  /** Converts a message to its stored form. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Redacts large messages in a worker, so that `stored` finds them ready. */
  readonly prepareStored: (messages: readonly MessageInput[], signal?: AbortSignal) => Promise<void>;
  /** Called when a request continues although the store fails. */
  readonly onStoreFailure: (error: unknown) => void;
  /** True for a token of the gateway itself. */
  readonly isGatewayToken: (credential: string) => boolean;
}

/** An admitted request with its body. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly route: Extract<Route, { readonly api: unknown }>;
  readonly query: string;
  /** Decompressed. */
  readonly body: Buffer;
  /** The bytes as received. */
  readonly raw: Buffer;
  /** Aborts when the client disconnects or the gateway closes. */
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** Called when the request is about to be sent, so that the next one can be prepared. */
  readonly onPrepared: () => void;
}
