import type { Engine } from "./engine.ts";
import { longhaulEngine } from "./longhaul-engine.ts";
import { openworkflowEngine, openworkflowSqliteEngine } from "./openworkflow-engine.ts";
import { pgBossEngine } from "./pg-boss-engine.ts";

/** All engines under test. */
export const ENGINES: readonly Engine[] = [
  pgBossEngine,
  openworkflowEngine,
  openworkflowSqliteEngine,
  longhaulEngine,
];

/** The engine with a name. */
export function findEngine(name: string | undefined): Engine {
  const engine = ENGINES.find((one) => one.name === name);
  if (engine) return engine;
  throw new Error(`There is no engine ${name}; there are ${ENGINES.map((one) => one.name).join(", ")}.`);
}
