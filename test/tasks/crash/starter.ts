// Starts, moves and kills tasks until it is killed itself, and synchronously prints every acknowledgment.
import { writeSync } from "node:fs";
import { claimOwner } from "../../../src/model/base/owner.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { makeHost } from "../host.ts";
import { fragile, parent, walker } from "./agents.ts";

const [path = "", round = ""] = process.argv.slice(2);
if (path === "") process.exit(0);
const store = await openSqliteStore({ path });
const { tasks } = makeHost(store, { owner: claimOwner() });
const say = (words: string) => writeSync(1, `${words}\n`);
for (const agent of [walker, fragile, parent]) tasks.register(agent);

const lifeOf = async (id: string, number: number) => {
  const agent = [walker, fragile, parent][number % 3] ?? walker;
  const isForeground = number % 2 === 0;
  const task = await tasks.start(agent, id, { id, mode: isForeground ? "foreground" : "background" });
  say(`made ${id}`);
  if (number % 4 === 0) await task.detach();
  if (number % 5 === 0) await task.kill();
  const { state } = await task.wait();
  say(`ended ${id} ${state}`);
};

for (let number = 0; ; number += 4) {
  await Promise.all([0, 1, 2, 3].map((next) => lifeOf(`${round}-${number + next}`, number + next)));
}
