import { onTestFinished } from "vitest";
import type { Store } from "../../src/log/store/store.ts";
import { readRange } from "../../src/log/view/page.ts";
import type { Entry, TaskBody } from "../../src/model/entry.ts";
import type { TaskNotice } from "../../src/model/task.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import type { TaskOptions } from "../../src/tasks/task-options.ts";
import { type Host, makeHost } from "./host.ts";

/** A supervisor with an in-memory store, closed with the test. */
export async function testHost(options: TaskOptions = {}): Promise<Host & { readonly store: Store }> {
  const store = await openSqliteStore({ path: ":memory:" });
  const host = makeHost(store, options);
  onTestFinished(async () => {
    await host.tasks.close();
    await store.close();
  });
  return { ...host, store };
}

/** The notes of a task in a session, in short form. */
export async function notesOf(store: Store, session: string, task: string): Promise<string[]> {
  return (await taskEntries(store, session, task)).map(({ note }) =>
    note.type === "moved" ? `${note.from}>${note.to}` : note.type,
  );
}

/** The entries of a task in a session. */
export async function taskEntries(store: Store, session: string, task: string): Promise<Entry<TaskBody>[]> {
  const entries: Entry<TaskBody>[] = [];
  for (let from = 1; ; ) {
    const page = await readRange(store.entries, session, { from, kinds: ["task"], limit: 1_000 });
    for (const entry of page) if (entry.kind === "task" && entry.task === task) entries.push(entry);
    if (page.length < 1_000) return entries;
    from = (page.at(-1)?.seq ?? from) + 1;
  }
}

/** The notices of a task in a session. */
export async function noticesIn(store: Store, session: string, task: string): Promise<TaskNotice[]> {
  const entries = await taskEntries(store, session, task);
  return entries.flatMap(({ note }) => (note.type === "notice" ? [note.notice] : []));
}

/** A promise that is resolved from outside. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}
