import { expect, test } from "vitest";
import { exportSession } from "../../../src/histories/export-session.ts";
import { markdownWriter } from "../../../src/histories/markdown/markdown-writer.ts";
import type { Writer } from "../../../src/histories/port/writer.ts";
import { rooWriter } from "../../../src/histories/roo/roo-writer.ts";
import { testKernel } from "../../support/kernel.ts";

/** The files of a session whose requests were reported by turns, the first of them twice. */
async function exported(writer: Writer): Promise<string> {
  const kernel = await testKernel();
  await using session = await kernel.session("a talk");
  await session.append({ role: "user", text: "Begin." });
  const intake = await session.intake("test");
  const report = (request: string | undefined, outputTokens: number, cost: number) => ({
    body: {
      kind: "usage" as const,
      ...(request !== undefined && { request }),
      usage: { inputTokens: 1000, outputTokens, cost },
    },
  });
  await intake.append([report("r1", 1, 0.125), report("r2", 20, 0.25)]);
  await intake.append([report("r1", 300, 0.5), report(undefined, 4000, 1)]);
  let text = "";
  for await (const piece of exportSession(kernel, "a talk", writer)) text += piece.text;
  return text;
}

test("an export to Roo counts the last report of each request", async () => {
  const text = await exported(rooWriter);
  expect(text).toMatch(/"tokensIn":\s*3000,\s*"tokensOut":\s*4320\b/);
  expect(text).toMatch(/"totalCost":\s*1.75\b/);
});

test("an export to Markdown counts the last report of each request", async () => {
  const text = await exported(markdownWriter);
  expect(text).toContain("- Tokens: 3,000 input, 4,320 output\n");
  expect(text).toContain("- Cost: $1.75\n");
});
