import { BoundedMap } from "../../model/base/caches.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ModelFacts } from "./model-data.ts";
import { type Catalog, modelFacts } from "./model-facts.ts";
import { checkModelTable, findModelSettings, type ModelSettings, type ModelTable } from "./model-settings.ts";

/** Sources of a kernel's model facts and settings. */
interface ModelCatalogOptions {
  /** Defaults to the built-in table. */
  readonly catalogue?: Catalog;
  /** The user's own facts and settings, by model. */
  readonly models?: ModelTable;
  /** Called once per model whose window had to be assumed, with a message for people. */
  readonly onWarning?: (warning: string) => void;
}

/** Facts and settings of models. */
export interface ModelCatalog {
  getFacts(id: string): ModelFacts;
  getSettings(id: string): ModelSettings;
}

const REMEMBERED_FACTS = 256;
/** Some prices change by day and hour. */
const FACTS_AGE_MS = 600_000;
const REMEMBERED_WARNINGS = 1_024;

/**
 * Creates a catalogue that caches facts for ten minutes and warns once per model; it remembers the last 1,024 models it
 * warned about.
 */
export function createModelCatalog({
  catalogue,
  models = {},
  onWarning,
}: ModelCatalogOptions = {}): ModelCatalog {
  const table = checkModelTable(models);
  const known = new BoundedMap<string, ModelFacts>({ max: REMEMBERED_FACTS, maxAgeMs: FACTS_AGE_MS });
  const warned = new BoundedMap<string, true>({ max: REMEMBERED_WARNINGS });

  function warnOnce(id: string, warning: string): void {
    if (warned.use(id)) return;
    warned.set(id, true);
    onWarning?.(warning);
  }

  return {
    getFacts: (id) => {
      const remembered = known.use(id);
      if (remembered) return remembered;
      const facts = modelFacts(id, {
        ...dropUndefined({ catalogue }),
        overrides: findModelSettings(id, table),
        onUnknown: (warning) => warnOnce(id, warning),
      });
      known.set(id, facts);
      return facts;
    },
    getSettings: (id) => findModelSettings(id, table),
  };
}
