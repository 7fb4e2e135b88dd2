import type { GatewayConfig } from "../config/config.ts";
import type { Spans } from "../observe/spans.ts";
import type { ReferencedItems } from "../request/referenced-items.ts";
import type { ResponseIds } from "../thread/response-ids.ts";
import type { ConnectionAgents, PackedBodies } from "./send-upstream.ts";

/** Services for requests to upstreams. */
export interface UpstreamServices {
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly agents: ConnectionAgents;
  readonly packedBodies: PackedBodies;
  readonly spans: Spans;
  readonly responses: ResponseIds;
  readonly items: ReferencedItems;
  /** True for a token of the gateway itself. */
  readonly isGatewayToken: (credential: string) => boolean;
}
