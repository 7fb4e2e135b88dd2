import type { Json } from "../../model/json.ts";

/** A state and its name; null after it was removed. */
export interface NamedState {
  readonly name: string;
  readonly value: Json;
}

/**
 * Small states that several gateways share and may lose: counts of the loop breaker, limits learned from upstreams.
 * Only stores that are made for several machines have them.
 */
export interface SharedStateStore {
  /**
   * Changes states of these names; no other process changes any state meanwhile. `change` gets those that exist and
   * returns all of them; it may be called again after a lost connection.
   */
  change(
    names: readonly string[],
    change: (stored: ReadonlyMap<string, Json>) => ReadonlyMap<string, Json>,
  ): Promise<readonly NamedState[]>;
  /** The states that were changed within this time, by the clock of the server. */
  listChanged(withinMs: number): Promise<readonly NamedState[]>;
  /** Removes states that were not changed within this time. */
  dropUnchanged(withinMs: number): Promise<void>;
}
