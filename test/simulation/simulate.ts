// Simulates hours of work of several gateways over one store, in virtual time:
//   node test/simulation/simulate.ts --seed 7 --hours 2 [--store memory|files] [--keep 0,4,9] [--trace] [--shrink]
// "files": each process has its own connection to an SQLite store on disk. --keep carries out only some operations of
// the plan, --trace prints every event, --shrink finds the fewest operations that still fail.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Machine } from "./machine.ts";
import { makePlan } from "./plan.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    hours: { type: "string", default: "2" },
    perHour: { type: "string", default: "60" },
    store: { type: "string", default: "memory" },
    keep: { type: "string" },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const hours = Number(values.hours);
const HOUR = 3_600_000;
/** As long as leases, retries and backoffs may take when all faults are over. */
const REST_MS = 20 * 60_000;

const plan = makePlan(seed, hours, Number(values.perHour));
const kept =
  values.keep === undefined
    ? plan.map((_, index) => index)
    : values.keep.split(",").filter(Boolean).map(Number);

if (values.shrink) shrink();
else await simulate();

async function simulate(): Promise<void> {
  const startedAt = process.cpuUsage();
  const machine = new Machine(seed, values.trace);
  const { Network } = await import("./network.ts");
  const network = new Network(machine);
  const { openSqliteStore } = await import("../../src/stores/sqlite/index.ts");
  const { World } = await import("./world.ts");
  const { checkAlways, checkRest } = await import("./invariants.ts");
  const folder = mkdtempSync(join(tmpdir(), "longhaul-simulated-store-"));
  const path = values.store === "files" ? folder : ":memory:";
  const openOwn = () => openSqliteStore({ path });
  const base = await openOwn();
  const world = new World(machine, network, base, values.store === "files" ? openOwn : undefined);
  let failure: unknown;
  try {
    await world.open();
    await machine.run(10_000);
    for (const index of kept) {
      const operation = plan[index];
      if (!operation) continue;
      await machine.run(10_000 + operation.atMs);
      if (machine.failure) break;
      machine.note(`operation ${index}: ${JSON.stringify(operation)}`);
      world.carryOut(operation);
      checkAlways(world);
    }
    await machine.run(10_000 + hours * HOUR);
    world.calm();
    await machine.run(machine.nowMs + REST_MS);
    // With all faults over, each client says something once more, so that everything it has is stored.
    for (const [number, { messages }] of world.clients.entries())
      if (messages.length > 0) world.say(number, 3);
    await machine.run(machine.nowMs + REST_MS);
    world.look();
    await machine.run(machine.nowMs + 60_000);
    if (!machine.failure) {
      if (!world.isIdle) throw new Error("Something still waits although all faults are over.");
      checkAlways(world);
      await checkRest(world);
    }
    failure = machine.failure;
  } catch (error) {
    failure = machine.failure ?? error;
  }
  world.close();
  rmSync(folder, { recursive: true, force: true });
  if (machine.trace) process.stdout.write(`${machine.trace.join("\n")}\n`);
  const { user, system } = process.cpuUsage(startedAt);
  const report = {
    seed,
    hours,
    operations: kept.length,
    answered: world.answered,
    tasks: world.tasks.length,
    events: machine.noted,
    digest: machine.readDigest(),
    cpuSeconds: Number(((user + system) / 1e6).toFixed(2)),
    failure: failure === undefined ? null : String((failure as Error).stack ?? failure).slice(0, 3_000),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(failure === undefined ? 0 : 1));
}

/** Leaves out operations of a failing plan as long as it still fails, and prints the rest. */
function shrink(): void {
  const sameRun = [
    "--seed",
    `${seed}`,
    "--hours",
    `${hours}`,
    "--store",
    values.store,
    "--perHour",
    values.perHour,
  ];
  const fails = (indexes: readonly number[]) =>
    spawnSync(
      process.execPath,
      [fileURLToPath(import.meta.url), ...sameRun, "--keep", indexes.join(",") || "-"],
      { encoding: "utf8" },
    ).status !== 0;
  let left = kept;
  if (!fails(left)) {
    process.stdout.write("The plan does not fail.\n");
    return;
  }
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < left.length; ) {
      const without = [...left.slice(0, at), ...left.slice(at + size)];
      if (fails(without)) left = without;
      else at += size;
    }
  for (const index of left) process.stdout.write(`${index}: ${JSON.stringify(plan[index])}\n`);
  process.stdout.write(`node test/simulation/simulate.ts ${sameRun.join(" ")} --keep ${left.join(",")}\n`);
}
