// Starts, detaches, kills and awaits six tasks, prints each acknowledgment synchronously, and kills itself at a place.
import { writeSync } from "node:fs";
import type { AppendRequest } from "../../../src/log/store/entry-store.ts";
import { claimOwner } from "../../../src/model/base/owner.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { type KillMoment, killAt, type StoreCall } from "../../support/kill-place.ts";
import { makeHost } from "../host.ts";
import { fragile, parent, walker } from "./agents.ts";

const [path = "", target = "", step = "", moment = ""] = process.argv.slice(2);

/** The steps of a task as the store sees them, each with its number: "created 1", "entry 2", "running>completed 1". */
const seen = new Map<string, number>();
function isPlace({ part, method, args }: StoreCall): boolean {
  if (part !== "entries" || method !== "append") return false;
  return (args[0] as readonly AppendRequest[]).some((request) => nameSteps(request).includes(step));
}

function nameSteps({ task }: AppendRequest): readonly string[] {
  if (!task) return [];
  const id = "create" in task ? task.create.id : task.id;
  if (id !== target) return [];
  const { expect, set, marks } = "create" in task ? {} : task;
  const name =
    "create" in task
      ? "created"
      : marks === "notice"
        ? "notice"
        : set?.state
          ? `${expect?.state}>${set.state}`
          : "entry";
  const number = (seen.get(name) ?? 0) + 1;
  seen.set(name, number);
  return [`${name} ${number}`];
}

const store = killAt(await openSqliteStore({ path }), moment as KillMoment, isPlace);
const { tasks } = makeHost(store, { owner: claimOwner() });
const say = (words: string) => writeSync(1, `${words}\n`);
for (const agent of [walker, fragile, parent]) tasks.register(agent);

const lifeOf = async (number: number) => {
  const id = `${number}`;
  const agent = [walker, fragile, parent][number % 3] ?? walker;
  const mode = number % 2 === 0 ? "foreground" : "background";
  const task = await tasks.start(agent, id, { id, mode });
  say(`made ${id}`);
  if (number === 0) await task.detach();
  if (number === 5) await task.kill();
  const { state } = await task.wait();
  say(`ended ${id} ${state}`);
};

await Promise.all([0, 1, 2, 3, 4, 5].map(lifeOf));
await tasks.cleaned();
say(`missed ${step}; these were there: ${[...seen.keys()].join(", ")}`);
process.exit(1);
