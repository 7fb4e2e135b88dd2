import type { Store } from "../../log/store/store.ts";
import { blobCases, intakeCases } from "./store/blob-cases.ts";
import { draftCases, entryCases, placeCases } from "./store/entry-cases.ts";
import { memoryCases } from "./store/memory-cases.ts";
import { budgetCases, peopleCases } from "./store/people-cases.ts";
import { deletionCases, sessionCases } from "./store/session-cases.ts";
import { leaseCases, ledgerCases, taskCases } from "./store/task-cases.ts";

/** One requirement of every store; `run` rejects if the store does not meet it. */
export interface StoreCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * The contract of the store port, for any test runner: `for (const { name, run } of storeSuite(open)) test(name, run)`.
 * `open` must return a new, empty store each time; the suite closes it.
 */
export function storeSuite(open: () => Promise<Store>): readonly StoreCase[] {
  const proofs = [
    ...sessionCases,
    ...entryCases,
    ...placeCases,
    ...draftCases,
    ...blobCases,
    ...intakeCases,
    ...leaseCases,
    ...ledgerCases,
    ...taskCases,
    ...peopleCases,
    ...budgetCases,
    ...memoryCases,
    ...deletionCases,
  ];
  return proofs.map(([name, prove]) => ({
    name,
    run: async () => {
      const store = await open();
      try {
        await prove(store);
      } finally {
        await store.close();
      }
    },
  }));
}
