import { expect, test } from "vitest";
import { LonghaulError } from "../../src/model/errors.ts";
import type { EntryStore } from "../../src/store/entry-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";
import { patient, until } from "./agents.ts";
import { makeHost } from "./host.ts";

/** A store whose appends fail while `isBroken` says so. */
function breakable(store: Store, isBroken: () => boolean): Store {
  const entries = new Proxy(store.entries, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "append") return value.bind(target);
      return async (...args: Parameters<EntryStore["append"]>) => {
        if (isBroken()) throw new LonghaulError("STORE_CORRUPT", "The store failed.");
        return target.append(...args);
      };
    },
  });
  return { ...store, entries, onCommit: (listener) => store.onCommit(listener) } as Store;
}

test("a store that breaks in the middle of a wish to detach is warned of, and the wish is heard when it works again", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isBroken = false;
  const here = makeHost(
    breakable(store, () => isBroken),
    { limits: { wishMs: 20 } },
  );
  const there = makeHost(store);
  const foreground = here.tasks.run(patient, null, { id: "t" });
  await until(store, "result");
  isBroken = true;
  const detaching = there.tasks.detach("t");
  await expect.poll(() => here.warnings.join()).toContain("Task t was not moved to the background");
  isBroken = false;
  expect(await detaching).toMatchObject({ mode: "background" });
  expect(await foreground).toMatchObject({ state: "running", mode: "background" });
  await there.tasks.close();
  await here.tasks.close();
  await store.close();
});

test("a store that breaks while tasks are let go at the end keeps nobody: the others are let go, and none runs on", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  let isBroken = false;
  const host = makeHost(
    breakable(store, () => isBroken),
    { onClose: "release" },
  );
  const waiting: string[] = [];
  const stopped: string[] = [];
  const agent = {
    name: "listener",
    canResume: true,
    async *run({ task, signal }: { readonly task: string; readonly signal: AbortSignal }) {
      yield { type: "step" as const };
      waiting.push(task);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped.push(task);
      return null;
    },
  };
  for (const id of ["a", "b"]) await host.tasks.start(agent, null, { id });
  await expect.poll(() => waiting.length).toBe(2);
  isBroken = true;
  await host.tasks.close();
  expect(host.warnings.filter((warning) => warning.includes("could not be let go"))).toHaveLength(2);
  await expect.poll(() => stopped.length).toBe(2);
  await store.close();
});
