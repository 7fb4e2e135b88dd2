import type { Store } from "../../../log/store/store.ts";

/** One requirement of every store: its name, and a proof that runs on a new store. */
export type StoreProof = readonly [name: string, prove: (store: Store) => Promise<void>];
