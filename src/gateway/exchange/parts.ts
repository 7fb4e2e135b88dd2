import type { IncomingMessage, ServerResponse } from "node:http";
import type { Kernel, MessageInput } from "../../index.ts";
import type { RecentBodies } from "../body/recent-bodies.ts";
import type { KnownCompactions } from "../compaction/known-compactions.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Principal } from "../door/principal.ts";
import type { Route } from "../door/route.ts";
import type { LoopStates } from "../loops/loop-states.ts";
import type { Spans } from "../observe/spans.ts";
import type { Trace } from "../observe/trace.ts";
import type { Threads } from "../thread/threads.ts";
import type { Agents } from "../upstream/agents.ts";
import type { ReferencedItems } from "./referenced-items.ts";
import type { ResponseIds } from "./response-ids.ts";
import type { Rooms } from "./rooms.ts";

/** What all requests of a gateway share. */
export interface ExchangeParts {
  readonly kernel: Kernel;
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly threads: Threads;
  readonly bodies: RecentBodies;
  readonly rooms: Rooms;
  readonly loops: LoopStates;
  readonly responses: ResponseIds;
  readonly items: ReferencedItems;
  readonly compactions: KnownCompactions;
  readonly agents: Agents;
  readonly spans: Spans;
  /** A message as it is stored. */
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  /** Does beforehand what would take `stored` long: large messages are redacted in a worker. */
  readonly prepareStored: (messages: readonly MessageInput[], signal?: AbortSignal) => Promise<void>;
  /** Told when a request goes on although the store fails. */
  readonly onStoreTrouble: (error: unknown) => void;
  /** True for a token of the gateway itself. */
  readonly isGatewayToken: (credential: string) => boolean;
}

/** A request that was let in, with its body. */
export interface Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly route: Extract<Route, { readonly api: unknown }>;
  readonly query: string;
  /** Unpacked. */
  readonly body: Buffer;
  /** As it came. */
  readonly raw: Buffer;
  /** Fires when the client has gone, or the gateway closes. */
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** The request is about to be sent: whoever waits to be prepared may go on. */
  readonly onPrepared: () => void;
}
