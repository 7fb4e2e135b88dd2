import { BoundedCache } from "../../model/bounded-cache.ts";
import type { ModelFacts } from "./facts.ts";
import { type Catalogue, modelFacts } from "./model-facts.ts";
import { checkModelTable, type ModelSettings, type ModelTable, overridesFor } from "./model-settings.ts";

/** Where a kernel's knowledge of models comes from. */
export interface ModelCatalogueOptions {
  /** The table that comes with us if there is none. */
  readonly catalogue?: Catalogue;
  /** What the user knows better, and wants otherwise, by model. */
  readonly models?: ModelTable;
  /** Called with a sentence for people, once for each model whose window had to be assumed. */
  readonly onWarning?: (warning: string) => void;
}

/** What is known of models, and set for them. */
export interface ModelCatalogue {
  factsOf(id: string): ModelFacts;
  settingsOf(id: string): ModelSettings;
}

const REMEMBERED_FACTS = 256;
/** Some prices change with the day and the hour. */
const FACTS_AGE_MS = 600_000;
const REMEMBERED_WARNINGS = 1_024;

/** A catalogue that warns once; it remembers the latest thousand models it warned of. */
export function modelCatalogue({
  catalogue,
  models = {},
  onWarning,
}: ModelCatalogueOptions = {}): ModelCatalogue {
  const table = checkModelTable(models);
  const known = new BoundedCache<string, ModelFacts>({ maxWeight: REMEMBERED_FACTS, maxAgeMs: FACTS_AGE_MS });
  const warned = new BoundedCache<string, true>({ maxWeight: REMEMBERED_WARNINGS });

  function warnOnce(id: string, warning: string): void {
    if (warned.get(id)) return;
    warned.set(id, true);
    onWarning?.(warning);
  }

  return {
    factsOf: (id) => {
      const remembered = known.get(id);
      if (remembered) return remembered;
      const facts = modelFacts(id, {
        ...(catalogue && { catalogue }),
        overrides: overridesFor(id, table),
        onUnknown: (warning) => warnOnce(id, warning),
      });
      known.set(id, facts);
      return facts;
    },
    settingsOf: (id) => overridesFor(id, table),
  };
}
