import { atMost, toRow } from "../../result.ts";
import type { Measurement, Suite } from "../../suite.ts";
import { runScenario, type ScenarioInput } from "./crash-scenarios.ts";
import { ENGINES } from "./engines.ts";

function measurement(engine: string, scenario: ScenarioInput["scenario"]): Measurement {
  const id = `${engine}.${scenario}`;
  return {
    name: id,
    async *run(bench) {
      const input: ScenarioInput = { engine, scenario, jobs: bench.isQuick ? 12 : 40 };
      const found = await bench.child(id, import.meta.url, runScenario, input);
      yield toRow({ id: `${id}.recovery`, value: found.recoverySeconds, unit: "s" });
      yield toRow({ id: `${id}.lost`, value: found.lost, unit: "jobs", goal: atMost(0, "jobs") });
      yield toRow({
        id: `${id}.duplicates`,
        value: found.duplicates,
        unit: "completions",
        goal: atMost(0, "completions"),
      });
      yield toRow({ id: `${id}.repeated`, value: found.repeated, unit: "jobs" });
      yield toRow({ id: `${id}.told`, value: found.told, unit: "jobs" });
      yield toRow({
        id: `${id}.dead-workers`,
        value: found.deadWorkers,
        unit: "workers",
        goal: atMost(0, "workers"),
      });
    },
  };
}

// The child of the bench finds it here.
export { runScenario };

/** Engines that could deliver tasks to workers, killed, frozen and cut off from their database. */
export const taskEngines: Suite = {
  measurements: (["killed", "frozen", "restarted"] as const).flatMap((scenario) =>
    ENGINES.filter(({ isOnServer }) => isOnServer || scenario !== "restarted").map(({ name }) =>
      measurement(name, scenario),
    ),
  ),
};
