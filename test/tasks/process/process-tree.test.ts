import { expect, test } from "vitest";
import type { ProcessSnapshot } from "../../../src/tasks/process/process-table.ts";
import { buildTagVariables, parseTagVariables } from "../../../src/tasks/process/process-tags.ts";
import { findMembers, findWholeGroups } from "../../../src/tasks/process/process-tree.ts";

function seen(
  pid: number,
  parent: number,
  group: number,
  more: Partial<ProcessSnapshot> = {},
): ProcessSnapshot {
  return { pid, parent, group, born: "b", state: "alive", tasks: [], runs: [], ...more };
}

test("descendants of a tagged process belong to it, whatever their own tags", () => {
  const list = [seen(10, 1, 10, { tasks: ["t"] }), seen(11, 10, 11), seen(12, 11, 12), seen(20, 1, 20)];
  const members = findMembers(list, ({ tasks }) => tasks.includes("t"), 99);
  expect(members.map(({ pid }) => pid).sort()).toEqual([10, 11, 12]);
});

test("the searching process and its ancestors are spared, and its tagged children are not", () => {
  const t = { tasks: ["t"] };
  const list = [
    seen(10, 1, 10, t),
    seen(11, 10, 10, t),
    seen(12, 11, 10, t),
    seen(13, 11, 10),
    seen(14, 10, 10, t),
  ];
  const members = findMembers(list, ({ tasks }) => tasks.includes("t"), 11);
  expect(members.map(({ pid }) => pid).sort()).toEqual([12, 14]);
});

test("a process group is signalled as a whole only if it holds no other processes", () => {
  const list = [
    seen(10, 1, 10),
    seen(11, 10, 10),
    seen(12, 10, 12),
    seen(30, 1, 12),
    seen(31, 1, 10, { state: "zombie" }),
  ];
  expect([...findWholeGroups(list, list.slice(0, 3))]).toEqual([10]);
});

test("the tags of a nested run name both tasks", () => {
  const outer = buildTagVariables("a/b", "r1", undefined);
  const inner = buildTagVariables("c~store", "r2", outer.LONGHAUL_RUNS);
  expect(inner.LONGHAUL_TASK).toBe("c");
  expect(parseTagVariables(inner.LONGHAUL_TASK, inner.LONGHAUL_RUNS)).toEqual({
    tasks: ["a/b", "c~store"],
    runs: ["r1", "r2"],
  });
  expect(parseTagVariables("by-hand", undefined)).toEqual({ tasks: ["by-hand"], runs: [] });
});
