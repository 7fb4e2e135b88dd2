import type { Store } from "../../store/store.ts";

/** One thing that every store must do: a sentence, and what proves it on a fresh store. */
export type StoreProof = readonly [name: string, prove: (store: Store) => Promise<void>];
