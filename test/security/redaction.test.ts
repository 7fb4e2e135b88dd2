import { describe, expect, test } from "vitest";
import { HOSTILE_TEXTS } from "../../bench/suites/hostile/texts.ts";
import { redactSecrets } from "../../src/model/secrets/redact-secrets.ts";
import { ask, lineOf, startGateway, threadsOf } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";

const SIZE = 500_000;
/** Far more than any text needs on a busy machine, and far less than quadratic time would take. */
const MAX_MS = 2_000;

describe("redaction", () => {
  test.each(HOSTILE_TEXTS.map(({ name, make }) => [name, make] as const))(
    "redaction takes time linear in the length of the text: %s",
    (_, make) => {
      const text = make(SIZE);
      const before = process.threadCpuUsage().user;
      redactSecrets(text);
      expect((process.threadCpuUsage().user - before) / 1_000).toBeLessThan(MAX_MS);
    },
  );

  proofTest("redaction never fails on extreme messages, and the conversation goes on", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { redact: true } });
    const secrets = Array.from(
      { length: 220_000 },
      (_, one) => `sk-ant-api03-${String(one).padStart(30, "0")}`,
    );
    const messages: object[] = [];
    for (const content of ["a".repeat(12_000_000), secrets.join("\n"), "And now?"]) {
      messages.push({ role: "user", content });
      const body = { model: "claude-sonnet-4-5", max_tokens: 10, messages };
      const answer = await ask(gateway, { path: "/v1/messages", body });
      expect(answer.status).toBe(200);
      messages.push({ role: "assistant", content: "Fine." });
    }
    const [thread] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(thread?.id);
    const line = await lineOf(session);
    expect(line.filter(({ message }) => message.role === "user")).toHaveLength(3);
    expect(JSON.stringify(line)).not.toContain("sk-ant-api03");
  });
});
