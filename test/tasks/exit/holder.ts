// Runs a task that never ends by itself, with a resource that reports its closing; the test decides how it is ended.
import { writeSync } from "node:fs";
import { claimOwner } from "../../../src/model/base/owner.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import type { AgentContext } from "../../../src/tasks/agent.ts";
import { processCleanups } from "../../../src/tasks/process/cleanups.ts";
import { makeHost, type TestSession } from "../host.ts";

const [path = "", kind = ""] = process.argv.slice(2);
const store = await openSqliteStore({ path });
const say = (words: string) => writeSync(1, `${words}\n`);
const { tasks } = makeHost(store, { owner: claimOwner(), handlesSignals: true, limits: { graceMs: 300 } });

async function* holder({ scope, signal }: AgentContext<TestSession>) {
  scope.own({
    close: () => {
      say("closed");
      return kind === "hanging" ? new Promise<void>(() => undefined) : undefined;
    },
  });
  yield { type: "output" as const, text: "begun" };
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

if (kind === "listening")
  process.on("SIGTERM", () =>
    processCleanups()
      .run("SIGTERM")
      .then(() => process.exit(7)),
  );
const task = await tasks.start(holder, null, { id: "t" });
for await (const entry of task.output({ block: true }))
  if (entry.kind === "task" && entry.note.type === "output") break;
say("ready");
setInterval(() => undefined, 1_000);
