import type { Reporter, TestModule } from "vitest/node";

const FIGURES = new Intl.NumberFormat("en-US");

/** Ends the output with one plain line, "N passed, N failed, N skipped", for machine readers. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, proofs: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && module.children.size === 0) count.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "skipped" && test.meta().isProof) count.proofs++;
        else if (state !== "pending") count[state]++;
      }
    }
    const { passed, failed, skipped, proofs } = count;
    const parts = [`${FIGURES.format(passed)} passed`, `${FIGURES.format(failed)} failed`];
    if (skipped > 0 || proofs === 0) parts.push(`${FIGURES.format(skipped)} skipped`);
    if (proofs > 0) parts.push(`${FIGURES.format(proofs)} long ones skipped (npm run proof runs them)`);
    console.log(parts.join(", "));
  }
}
