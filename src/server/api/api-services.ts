import type { Savings } from "../../kernel/faces/window.ts";
import type { Kernel } from "../../kernel/index.ts";
import type { EstimateRun } from "../../kernel/usage/savings-estimates.ts";
import type { AgentConnections } from "./core/agent-connections.ts";
import type { GatewayFacts } from "./core/gateway-facts.ts";
import type { OidcSignIn } from "./core/oidc-sign-in.ts";
import type { ChangeFeed } from "./events/change-feed.ts";
import type { HistoryImport } from "./jobs/history-import.ts";
import type { IndexRun } from "./jobs/index-run.ts";
import type { PersonErasures } from "./jobs/person-erasures.ts";
import type { ReplayJobs } from "./jobs/replay-jobs.ts";
import type { StoreUsage } from "./spending/store-usage.ts";

/** Facts about the server that the API runs in. */
export interface ServerFacts {
  readonly version: string;
  readonly startedAt: number;
  /** False while the server drains. */
  readonly isOpen: boolean;
  readonly inFlight: number;
  /** Totals since the start, over all people. */
  readonly totals: {
    readonly requests: number;
    readonly failures: number;
    readonly edits: number;
    readonly healed: number;
    readonly savings: Savings;
  };
  readonly memory: {
    /** Messages of the memory monitor, newest first. */
    readonly notices: readonly { readonly at: number; readonly type: string; readonly text: string }[];
  };
}

/** Services that the routes share. */
export interface ApiServices {
  readonly kernel: Kernel;
  readonly server: () => ServerFacts;
  readonly gateway: () => GatewayFacts;
  readonly imports: HistoryImport;
  readonly replays: ReplayJobs;
  readonly indexRun: IndexRun;
  readonly erasures: PersonErasures;
  readonly usage: StoreUsage;
  readonly signIn: OidcSignIn;
  /** The cost of conversations under the default policy, as replayed. */
  readonly estimates: EstimateRun;
  /** Called for unexpected errors of work in the background. */
  readonly onError: (error: unknown) => void;
  readonly feed: ChangeFeed;
  /** Undefined in a gateway that does not manage the agents of its computer. */
  readonly agents: AgentConnections | undefined;
}
