import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { HOSTILE_TEXTS } from "../../bench/suites/hostile/texts.ts";
import { redactSecrets } from "../../src/model/secrets/redact-secrets.ts";
import { RedactionThread, Redactor } from "../../src/server/gateway/thread/redactor.ts";
import { BARE, NAMED } from "../server/gateway/thread/secrets.ts";
import { ask, startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";

const TEXTS = [
  ...BARE.map(([, secret]) => `key ${secret} end`),
  ...NAMED.map(([, before, secret, after]) => `${before}${secret}${after}`),
  ...HOSTILE_TEXTS.map(({ make }) => make(20_000)),
];
const SECRETS = HOSTILE_TEXTS.find(({ name }) => name === "many secrets")?.make(500_000) ?? "";
const LARGE = `${SECRETS}\n`.repeat(40);

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function startThread(): RedactionThread {
  const thread = new RedactionThread();
  open.push(thread);
  return thread;
}

function startRedactor(found: string[] = []): Redactor {
  const redactor = new Redactor((kind) => found.push(kind));
  open.push(redactor);
  return redactor;
}

describe("the redaction thread", () => {
  test("the redaction thread removes the same secrets as redaction in place", async () => {
    expect(await startThread().redact(TEXTS)).toEqual(TEXTS.map(redactSecrets));
  });

  test("texts are redacted in place while the redaction thread is down, and a new thread starts", async () => {
    const thread = startThread();
    await thread.redact(["warm"]);
    const [one, other] = [thread.redact(TEXTS), thread.close()];
    expect(await one).toEqual(TEXTS.map(redactSecrets));
    await other;
    expect(await thread.redact(TEXTS)).toEqual(TEXTS.map(redactSecrets));
  });

  proofTest("the redaction thread drops the text of an aborted request, and no other text", async () => {
    const thread = startThread();
    const gone = new AbortController();
    const dropped = thread.redact([LARGE], gone.signal);
    const others = thread.redact(TEXTS);
    await setImmediate();
    gone.abort();
    await expect(dropped).rejects.toMatchObject({ code: "ABORTED" });
    expect(await others).toEqual(TEXTS.map(redactSecrets));
  });
});

describe("a redactor", () => {
  proofTest("a redactor redacts small messages while a large one is still being redacted", async () => {
    const redactor = startRedactor();
    const large = { role: "user", text: LARGE } as const;
    const done: string[] = [];
    const preparing = redactor.prepare([large])?.then(() => done.push("large"));
    const [, secret] = BARE[0] ?? ["", ""];
    for (let round = 0; round < 3; round++) {
      await setImmediate();
      expect(redactor.redact({ role: "user", text: `key ${secret}` }).text).not.toContain(secret);
      done.push("small");
    }
    await preparing;
    expect(done).toEqual(["small", "small", "small", "large"]);
    expect(redactor.redact(large).text).toBe(redactSecrets(large.text).text);
  });

  proofTest("a redactor finds the same secrets in a prepared message, and counts each once", async () => {
    const [before, after]: [string[], string[]] = [[], []];
    const [prepared, plain] = [startRedactor(before), startRedactor(after)];
    const input = { password: "hunter2-And-9-more", note: "x".repeat(300_000), list: TEXTS };
    const message = {
      role: "assistant",
      parts: [{ type: "tool-call", callId: "1", name: "write", input }],
    } as const;
    await prepared.prepare([message]);
    const redacted = prepared.redact(message);
    expect(redacted).toEqual(plain.redact(message));
    expect(JSON.stringify(redacted)).not.toContain("hunter2");
    prepared.redact(message);
    expect(before.length).toBe(after.length);
  });

  test("a redactor does not search a text a second time", async () => {
    const found: string[] = [];
    const redactor = startRedactor(found);
    const text = SECRETS;
    await redactor.prepare([{ role: "user", text }]);
    const { length } = found;
    expect(length).toBeGreaterThan(1_000);
    expect(redactor.redact({ role: "user", text }).text).toBe(redactSecrets(text).text);
    await redactor.prepare([{ role: "user", text }]);
    expect(found).toHaveLength(length);
  });
});

proofTest(
  "other requests are answered while a text of 20 MB is redacted, and no request gets a 500",
  {
    timeout: 120_000,
  },
  async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { redact: true } });
    const asking = (content: string) =>
      ask(gateway, {
        path: "/v1/messages",
        body: { model: "claude-sonnet-4-5", max_tokens: 10, messages: [{ role: "user", content }] },
      });
    const done: string[] = [];
    let isDone = false;
    const large = asking(LARGE).then(({ status }) => {
      isDone = true;
      done.push(`large ${status}`);
    });
    while (!isDone) {
      const { status } = await asking(`Question ${done.length}`);
      done.push(`small ${status}`);
    }
    await large;
    expect(new Set(done)).toEqual(new Set(["large 200", "small 200"]));
    expect(done.indexOf("large 200")).toBeGreaterThan(0);
  },
);
