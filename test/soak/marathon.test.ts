import { expect, test } from "vitest";
import { runMarathon } from "../kernel/monitor/run-marathon.ts";
import { testFolder } from "../support/folder.ts";

const scale = Number(process.env.LONGHAUL_SOAK ?? 1);
const messages = Math.round(1_000_000 * scale);
const recalls = Math.round(2_000 * scale);

test(`${messages} messages and ${recalls} recalls complete under --max-old-space-size=150`, async () => {
  const peaks = await runMarathon(testFolder(), messages, recalls);
  console.log(JSON.stringify(peaks));
  expect(peaks.entries).toBeGreaterThanOrEqual(messages);
  expect(peaks.found).toBe(recalls);
});
