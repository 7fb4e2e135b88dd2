import type { Savings } from "../../../kernel/faces/window.ts";

/** Money since the start of the gateway. */
interface SpendingFacts {
  readonly spentCost: number;
  readonly savings: Savings;
}

/** Facts about the gateway that the API runs in: its settings, its upstreams and the conversations through it. */
export interface GatewayFacts {
  readonly url: string;
  readonly settings: {
    readonly policy: string;
    readonly dryRun: boolean;
    readonly threshold: number;
    readonly control: number;
    readonly recall: { readonly offer: string; readonly context: boolean };
    readonly redact: boolean;
  };
  readonly upstreams: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly apis: readonly string[];
    readonly prefix?: string;
    readonly models?: readonly string[];
    readonly keyEnv?: string;
    readonly hasKey: boolean;
    readonly requests: number;
    readonly failures: number;
    readonly lastStatus?: number;
  }[];
  /** Providers that setting a variable makes available. */
  readonly missing: readonly { readonly name: string; readonly variable: string }[];
  /** Sums over all people since the start. */
  readonly spending: SpendingFacts;
  /** Most recently used first. */
  readonly threads: readonly {
    readonly session: string;
    readonly client?: string;
    readonly kind: string;
    readonly model?: string;
    readonly tokens: number;
    readonly window: number;
    readonly requests: number;
    readonly spending: SpendingFacts;
    readonly lastAt: number;
    readonly edits: readonly { readonly at: number; readonly text: string }[];
    readonly inFlight: number;
  }[];
  /** The lines that point each agent at the gateway. */
  readonly agents: readonly { readonly agent: string; readonly place: string; readonly lines: string }[];
}
