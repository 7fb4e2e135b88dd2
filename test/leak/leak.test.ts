import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { proofTest } from "../support/proof.ts";

proofTest(
  "300 cycles of opening, using and closing a session leave no handle behind, and nothing open",
  () => {
    const script = fileURLToPath(new URL("./cycles.ts", import.meta.url));
    const report = JSON.parse(execFileSync(process.execPath, [script, "300"], { encoding: "utf8" }));
    expect(report.handles).toEqual([]);
    for (const kind of ["session", "draft", "tail"])
      expect(report.counts[kind].closed).toBe(report.counts[kind].opened);
    expect(report.counts.session.opened).toBe(600);
    expect(report.after.kernel).toEqual({ opened: 1, closed: 1 });
  },
);
