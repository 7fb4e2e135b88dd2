import { expect, test } from "vitest";
import { ask, lineOf, quiet, startGateway, threadsOf } from "../../support/gateway.ts";
import { ALICE_TOKEN, TWO_PEOPLE } from "../../support/people.ts";
import { says, startUpstream } from "../../support/upstream.ts";

const COMPACT = "/v1/responses/compact";
const COMPACTED = JSON.stringify({
  id: "resp_compacted",
  object: "response.compaction",
  output: [
    { type: "message", role: "user", content: [{ type: "input_text", text: "Count the ships." }] },
    { type: "compaction", encrypted_content: "sealed" },
  ],
  usage: {
    input_tokens: 900,
    output_tokens: 40,
    input_tokens_details: { cached_tokens: 500 },
    total_tokens: 940,
  },
});

test("a compaction by OpenAI is forwarded byte for byte, and its usage is recorded in its conversation", async () => {
  const upstream = await startUpstream((heard, response, index) => {
    if (!heard.url.startsWith(COMPACT)) return says("Seven.")(heard, response, index);
    response.writeHead(200, { "content-type": "application/json" }).end(COMPACTED);
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const input = [{ role: "user", content: "Count the ships." }];
  await ask(gateway, { path: "/v1/responses", body: { model: "gpt-5", input } });
  await quiet(gateway);
  const [thread] = await threadsOf(gateway);
  const whole = [
    ...input,
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Seven." }] },
  ];
  const body = JSON.stringify({ model: "gpt-5", input: whole, odd: { kept: 1 } });
  const answer = await ask(gateway, { path: COMPACT, body });
  expect(answer).toMatchObject({ status: 200, text: COMPACTED });
  expect(upstream.heard.at(-1)).toMatchObject({ method: "POST", url: COMPACT });
  expect(upstream.heard.at(-1)?.body.toString()).toBe(body);
  await quiet(gateway);

  expect(await threadsOf(gateway)).toHaveLength(1);
  await using session = await gateway.kernel.session(thread?.id as string);
  const entries = await session.read({ from: 1, kinds: ["notice", "usage"] });
  expect(entries.at(-2)).toMatchObject({ kind: "notice", text: expect.stringContaining("2 items became 2") });
  expect(entries.at(-1)).toMatchObject({
    kind: "usage",
    model: "gpt-5",
    request: "resp_compacted",
    usage: { inputTokens: 400, cacheReadTokens: 500, outputTokens: 40 },
  });
  expect(await lineOf(session)).toHaveLength(2);
  expect(gateway.logged.at(-1)).toMatchObject({ event: "request", session: session.id, status: 200 });
});

test("an error of a compaction reaches the client unchanged, and nothing is recorded", async () => {
  const refusal = '{"error":{"message":"No such model.","type":"invalid_request_error"}}';
  const upstream = await startUpstream(
    (_, response) => void response.writeHead(404, { "content-type": "application/json" }).end(refusal),
  );
  const gateway = await startGateway({ upstream: upstream.url, config: TWO_PEOPLE });
  const { status, text } = await ask(gateway, {
    path: COMPACT,
    headers: { "x-longhaul-token": ALICE_TOKEN },
    body: { model: "gpt-0", input: "Hello." },
  });
  expect([status, text]).toEqual([404, refusal]);
  await quiet(gateway);
  expect(await threadsOf(gateway)).toEqual([]);
});
