import { expect } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { runMarathon } from "./run-marathon.ts";

proofTest(
  "20,000 messages and 40 recalls complete under --max-old-space-size=150",
  async () => {
    const peaks = await runMarathon(testFolder(), 20_000, 40);
    expect(peaks).toMatchObject({ entries: expect.any(Number), found: 40 });
    expect(peaks.entries).toBeGreaterThanOrEqual(20_000);
  },
  600_000,
);
