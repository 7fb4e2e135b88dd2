import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { findBoundUpstreams } from "../../../../src/server/gateway/upstream/target.ts";
import { testFolder } from "../../../support/folder.ts";
import { ask, logOf, startGateway, threadsOf } from "../../../support/gateway.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";

const QUESTION = { messages: [{ role: "user", content: "Hello." }], max_tokens: 100 };
const REPLY = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-8",
  content: [{ type: "text", text: "Fine." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 2 },
};
const EVENTS = [
  {
    type: "message_start",
    message: { ...REPLY, content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Fine." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const VERTEX = "/projects/p/locations/us-east5/publishers/anthropic/models";

async function readLog(gateway: Awaited<ReturnType<typeof startGateway>>) {
  const [main] = await threadsOf(gateway, "main");
  const log = await logOf(await gateway.kernel.session(main?.id));
  return log.map(({ message }) =>
    message.parts.map((part) => ("text" in part ? part.text : part.type)).join(""),
  );
}

function startNamed(name: string, baseUrl: string, apis: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return startGateway({ upstream: [{ name, baseUrl, apis }], env });
}

describe("Azure's deployments", () => {
  test("Azure's deployments are served at their own path, with the deployment as the model", async () => {
    const upstream = await startUpstream((_, response) => {
      const message = { role: "assistant", content: "Fine." };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ id: "c1", choices: [{ index: 0, message, finish_reason: "stop" }] }));
    });
    const gateway = await startNamed("azure", upstream.url, ["openai-chat"]);
    const path = "/openai/deployments/my-gpt/chat/completions?api-version=2026-01-01";
    const answer = await ask(gateway, { path, body: QUESTION, headers: { "api-key": "k" } });
    expect(answer.status).toBe(200);
    expect(upstream.heard[0]).toMatchObject({ url: path, json: QUESTION });
    expect(upstream.heard[0]?.header("api-key")).toBe("k");
    expect(await readLog(gateway)).toEqual(["Hello.", "Fine."]);
  });

  test.each([
    ["/openai/deployments/my-gpt/chat/completions?api-version=1"],
    ["/openai/deployments/my-gpt/embeddings?api-version=1"],
    ["/openai/responses?api-version=2025-04-01-preview"],
    ["/openai/models?x=1&api-version=2025-04-01-preview"],
  ])(
    "the path %s without an upstream for Azure gets an error that names the upstream to add",
    async (path) => {
      const upstream = await startUpstream();
      const gateway = await startNamed("openai", upstream.url, ["openai-chat", "openai-responses"]);
      const answer = await ask(
        gateway,
        path.includes("models") ? { path, method: "GET" } : { path, body: QUESTION },
      );
      expect(answer.status).toBe(404);
      const { message } = JSON.parse(answer.text).error;
      for (const part of [path.split("?")[0], "https://RESOURCE.openai.azure.com", "docs/gateway.md"])
        expect(message).toContain(part);
      expect(upstream.heard).toHaveLength(0);
    },
  );

  const both = ["openai-chat", "openai-responses"];

  test.each([
    ["/openai/deployments/d/embeddings?api-version=1&api-version=2", "POST"],
    ["/openai/deployments/d/images/generations?api-version=1", "POST"],
    ["/openai/responses/resp_1?api-version=2025-04-01-preview", "GET"],
    ["/openai/responses/resp_1/cancel?api-version=2025-04-01-preview", "POST"],
    ["/openai/models?api-version=2024-10-21", "GET"],
    ["/openai/files?api-version=2024-10-21", "GET"],
  ])("the path %s of Azure passes through to its upstream as it was sent", async (path, method) => {
    const upstream = await startUpstream((_, response) => void response.end("{}"));
    const gateway = await startGateway({
      upstream: [
        { name: "openai", baseUrl: "http://127.0.0.1:9", apis: both },
        { name: "azure", baseUrl: `${upstream.url}/openai/v1`, apis: both },
      ],
    });
    const body = method === "POST" ? { input: "Hello." } : undefined;
    const { status } = await ask(gateway, { path, method, body, headers: { "api-key": "k" } });
    expect([status, upstream.heard[0]?.url]).toEqual([200, path]);
  });

  test("Responses with a dated version and Azure's version 1 reach the same conversation, across a restart", async () => {
    const upstream = await startUpstream(says((_, index) => ({ text: `Reply ${index}.` })));
    const store = testFolder();
    const start = () =>
      startGateway({
        upstream: [{ name: "azure", baseUrl: `${upstream.url}/openai/v1`, apis: both }],
        path: store,
      });
    const dated = "/openai/responses?api-version=2025-04-01-preview&api-version=x";
    const first = "/openai/v1/responses?api-version=preview";
    const input: object[] = [];
    let gateway = await start();
    for (const [index, path] of [dated, first, dated].entries()) {
      input.push({ role: "user", content: `Question ${index}.` });
      const answer = await ask(gateway, { path, body: { model: "my gpt's", input, store: false } });
      expect([answer.status, upstream.heard[index]?.url]).toEqual([200, path]);
      input.push(...JSON.parse(answer.text).output);
      if (index < 2) await gateway.close();
      if (index < 2) gateway = await start();
    }
    expect(await readLog(gateway)).toEqual(
      [0, 1, 2].flatMap((index) => [`Question ${index}.`, `Reply ${index}.`]),
    );
  });
});

describe("Vertex AI's Anthropic models", () => {
  test.each(["/v1", ""])("Vertex AI's Anthropic models and token counts work below %j", async (start) => {
    const upstream = await startUpstream((heard, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(heard.url.includes("count-tokens") ? { input_tokens: 7 } : REPLY));
    });
    const gateway = await startNamed("vertex", upstream.url, ["google"]);
    const headers = { authorization: "Bearer google-token" };
    const body = { ...QUESTION, anthropic_version: "vertex-2023-10-16" };
    const path = `${start}${VERTEX}/claude-opus-4-8:rawPredict`;
    expect((await ask(gateway, { path, body, headers })).status).toBe(200);
    expect(upstream.heard[0]).toMatchObject({ url: `/v1${VERTEX}/claude-opus-4-8:rawPredict`, json: body });
    expect(upstream.heard[0]?.header("authorization")).toBe("Bearer google-token");
    expect(await readLog(gateway)).toEqual(["Hello.", "Fine."]);
    const counting = { path: `${start}${VERTEX}/count-tokens:rawPredict`, headers };
    const count = await ask(gateway, { ...counting, body: { model: "claude-opus-4-8", ...QUESTION } });
    expect(JSON.parse(count.text)).toEqual({ input_tokens: 7 });
  });
});

test.each([
  ["us-east5", "https://us-east5-aiplatform.googleapis.com"],
  ["eu", "https://aiplatform.eu.rep.googleapis.com"],
  ["us", "https://aiplatform.us.rep.googleapis.com"],
  ["global", "https://aiplatform.googleapis.com"],
])("Vertex AI's location %s is served at %s", (location, expected) => {
  const upstream = {
    name: "vertex",
    baseUrl: "https://aiplatform.googleapis.com",
    apis: ["google"],
  } as const;
  const path = `/v1/projects/p/locations/${location}/publishers/anthropic/models/m:rawPredict`;
  const [bound] = findBoundUpstreams([upstream as never], { api: "anthropic", path });
  expect(bound?.baseUrl).toBe(expected);
});

/** One frame of Amazon's streams; nobody in the test checks its checksums. */
function frame(event: object): Buffer {
  const payload = Buffer.from(
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64") }),
  );
  const head = Buffer.alloc(12);
  head.writeUInt32BE(12 + payload.length + 4, 0);
  return Buffer.concat([head, payload, Buffer.alloc(4)]);
}

describe("Bedrock's invoke", () => {
  const path = "/model/us.anthropic.claude-opus-4-8-v1%3A0/invoke-with-response-stream";
  const signed = { authorization: "AWS4-HMAC-SHA256 Credential=client", "x-amz-date": "20260101T000000Z" };
  const keys = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-central-1" };
  const stream = EVENTS.map(frame);

  function startBedrock() {
    return startUpstream((_, response) => {
      response.setHeader("content-type", "application/vnd.amazon.eventstream");
      for (const piece of stream) response.write(piece);
      response.end();
    });
  }

  test("a Bedrock request is signed with the gateway's credentials, and its stream reaches client and log", async () => {
    const upstream = await startBedrock();
    const gateway = await startNamed("bedrock", upstream.url, ["anthropic"], keys);
    const body = { ...QUESTION, anthropic_version: "bedrock-2023-05-31" };
    const answer = await ask(gateway, { path, body, headers: signed });
    expect([answer.status, answer.body]).toEqual([200, Buffer.concat(stream)]);
    const heard = upstream.heard[0];
    expect(heard).toMatchObject({ url: path, json: body });
    expect(heard?.header("authorization")).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/bedrock\//,
    );
    expect(heard?.header("x-amz-date")).not.toBe("20260101T000000Z");
    expect(await readLog(gateway)).toEqual(["Hello.", "Fine."]);
  });

  test.each(["..%2Fanthropic.claude-x", "arn%3Aaws%3Abedrock%2F..%2Fx", "anthropic.claude-x%2F."])(
    "the model %s, which another server might read as a path, is refused in Amazon's form before anything is stored",
    async (model) => {
      const upstream = await startBedrock();
      const gateway = await startNamed("bedrock", upstream.url, ["anthropic"], keys);
      for (const verb of ["invoke", "converse-stream", "count-tokens"]) {
        const answer = await ask(gateway, { path: `/model/${model}/${verb}`, body: QUESTION });
        expect([answer.status, answer.header("x-amzn-errortype")]).toEqual([400, "ValidationException"]);
        expect(JSON.parse(answer.text).message).toContain('".."');
      }
      expect(upstream.heard).toHaveLength(0);
      expect(await threadsOf(gateway)).toHaveLength(0);
    },
  );

  test("a Bedrock API key is forwarded, and a request without credentials gets an error that says what to set", async () => {
    const upstream = await startBedrock();
    const gateway = await startNamed("bedrock", upstream.url, ["anthropic"]);
    const refused = await ask(gateway, { path, body: QUESTION, headers: signed });
    expect(refused.status).toBe(401);
    expect(JSON.parse(refused.text).error.message).toContain("AWS_BEARER_TOKEN_BEDROCK");
    expect(JSON.parse(refused.text).message).toContain("AWS_BEARER_TOKEN_BEDROCK");
    expect(refused.header("x-amzn-errortype")).toBe("UnrecognizedClientException");
    const keyed = await ask(gateway, { path, body: QUESTION, headers: { authorization: "Bearer key" } });
    expect(keyed.status).toBe(200);
    expect(upstream.heard[0]?.header("authorization")).toBe("Bearer key");
  });
});

const SECRET = "a secret";
const hashOf = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");

/** Checks a signature as Amazon documents it, from the bytes that arrived. */
function isSigned({ method, url, rawHeaders, header, body }: Heard): boolean {
  const [, scope = "", names = "", given] =
    /Credential=[^/]+\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      header("authorization") ?? "",
    ) ?? [];
  const [path = "", query = ""] = url.split("?");
  const twice = path.split("/").map((part) => encodeURIComponent(part));
  const signed = names.split(";");
  const seen = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const mustSign = seen.filter((name) => name === "host" || name.startsWith("x-amz"));
  if (mustSign.some((name) => !signed.includes(name) && name !== "x-amz-content-sha256")) return false;
  const canonical = [
    ...[method, twice.join("/"), query.split("&").sort().join("&")],
    ...[
      ...signed.map((name) => `${name}:${header(name)?.trim().replace(/ +/g, " ")}`),
      "",
      names,
      hashOf(body),
    ],
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", header("x-amz-date"), scope, hashOf(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce(
      (made: string | Buffer, part) => createHmac("sha256", made).update(part).digest(),
      `AWS4${SECRET}`,
    );
  return createHmac("sha256", key).update(text).digest("hex") === given;
}

describe("signatures for Bedrock", () => {
  const keys = {
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_SESSION_TOKEN: "a session+token/==",
    AWS_REGION: "eu-central-1",
  };
  const client = {
    authorization: "AWS4-HMAC-SHA256 Credential=client",
    "x-amz-date": "20260101T000000Z",
    "x-amz-content-sha256": "client",
    "amz-sdk-invocation-id": "1",
    "x-amzn-bedrock-guardrailidentifier": "guard",
  };
  const arn = encodeURIComponent("arn:aws:bedrock:eu-central-1:1:application-inference-profile/ab_c.d");
  const wrapped = {
    input: { invokeModel: { body: Buffer.from(JSON.stringify(QUESTION)).toString("base64") } },
  };

  test.each([
    ["anthropic.claude-opus-4-8-v1%3A0/invoke", { ...QUESTION, anthropic_version: "bedrock-2023-05-31" }],
    ["us.anthropic.claude-opus-4-8-v1:0/invoke", QUESTION],
    [`${arn}/invoke`, QUESTION],
    [
      "anthropic.claude-opus-4-8-v1%3A0/converse",
      { messages: [{ role: "user", content: [{ text: "Hello ü." }] }] },
    ],
    ["anthropic.claude-opus-4-8-v1%3A0/count-tokens", wrapped],
  ])("the signature of /model/%s is one that Amazon accepts", async (path, body) => {
    const upstream = await startUpstream((heard, response) => {
      response.setHeader("content-type", "application/json");
      if (!isSigned(heard)) response.writeHead(403).end('{"message":"signature"}');
      else response.end(JSON.stringify(heard.url.endsWith("count-tokens") ? { inputTokens: 12 } : REPLY));
    });
    const gateway = await startNamed("bedrock", upstream.url, ["anthropic"], keys);
    const answer = await ask(gateway, { path: `/model/${path}`, body, headers: client });
    expect([answer.status, upstream.heard.length]).toEqual([200, 1]);
    expect(upstream.heard[0]?.url).toBe(`/model/${path.replace("/converse", "/invoke")}`);
    if (path.endsWith("count-tokens"))
      expect([JSON.parse(answer.text), upstream.heard[0]?.json]).toEqual([{ inputTokens: 12 }, body]);
    else expect(await readLog(gateway)).toHaveLength(2);
  });

  test("a count for a person with memories is that of Bedrock, and an upstream without one gets an estimate", async () => {
    let status = 200;
    const upstream = await startUpstream((_, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end('{"inputTokens":12}');
    });
    const gateway = await startNamed("bedrock", upstream.url, ["anthropic"]);
    await gateway.kernel.memories().remember("The port is 7781.", { by: "user" });
    const asked = { path: "/model/anthropic.claude-opus-4-8/count-tokens", body: wrapped };
    const headers = { authorization: "Bearer key" };
    expect(JSON.parse((await ask(gateway, { ...asked, headers })).text)).toEqual({ inputTokens: 12 });
    expect(upstream.heard[0]?.json).toEqual(wrapped);
    status = 404;
    expect(JSON.parse((await ask(gateway, { ...asked, headers })).text).inputTokens).toBeGreaterThan(5);
    const refused = await ask(gateway, { ...asked, headers: client });
    expect([refused.status, refused.header("x-amzn-errortype")]).toEqual([
      401,
      "UnrecognizedClientException",
    ]);
  });
});

describe("Azure's and Vertex AI's streams", () => {
  test("streams over Azure's deployments and Vertex AI go through whole and are logged, with their own credentials", async () => {
    const upstream = await startUpstream((heard, response) => {
      response.setHeader("content-type", "text/event-stream");
      const send = (event: { readonly type?: string }) =>
        response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
      if (heard.url.includes("deployments")) {
        send({ id: "c1", choices: [{ index: 0, delta: { role: "assistant", content: "Fi" } }] } as object);
        send({
          id: "c1",
          choices: [{ index: 0, delta: { content: "ne." }, finish_reason: "stop" }],
        } as object);
        response.end("data: [DONE]\n\n");
        return;
      }
      for (const event of EVENTS) send(event);
      response.end();
    });
    const gateway = await startGateway({
      upstream: [
        { name: "azure", baseUrl: `${upstream.url}/openai/v1`, apis: ["openai-chat", "openai-responses"] },
        { name: "vertex", baseUrl: upstream.url, apis: ["google"] },
        { name: "other", baseUrl: "http://127.0.0.1:9", apis: ["anthropic", "openai-chat"] },
      ],
    });
    const azure = "/openai/deployments/my%20gpt/chat/completions?api-version=2026-01-01&x=a%2Fb";
    const body = { ...QUESTION, stream: true };
    const first = await ask(gateway, { path: azure, body, headers: { "api-key": "k" } });
    expect([first.status, first.isWhole]).toEqual([200, true]);
    const vertex = `/v1${VERTEX}/claude-opus-4-8@20260101:streamRawPredict`;
    const second = await ask(gateway, {
      path: vertex,
      body: { ...body, messages: [{ role: "user", content: "Hello there." }] },
      headers: { authorization: "Bearer google-token", "x-goog-user-project": "p" },
    });
    expect([second.status, second.isWhole]).toEqual([200, true]);
    expect(upstream.heard.map(({ url }) => url)).toEqual([azure, vertex]);
    expect(upstream.heard[0]?.header("api-key")).toBe("k");
    expect(upstream.heard[0]?.header("authorization")).toBeUndefined();
    expect(upstream.heard[1]?.header("authorization")).toBe("Bearer google-token");
    expect(upstream.heard[1]?.header("x-goog-user-project")).toBe("p");
    expect(upstream.heard[1]?.json.model).toBeUndefined();
    const mains = await threadsOf(gateway, "main");
    const lengths = await Promise.all(
      mains.map(async ({ id }) => (await logOf(await gateway.kernel.session(id))).length),
    );
    expect(lengths).toEqual([2, 2]);
  });
});

describe("an unknown address", () => {
  test.each([
    ["/api/v0/chat/completions", {}, "error"],
    ["/anthropic/v1/nowhere", {}, "type"],
    ["/v1/nowhere", { "anthropic-version": "2023-06-01" }, "type"],
    ["/gemini/nowhere", {}, "error"],
    ["/openai/deployments/d/nowhere", {}, "error"],
  ])(
    "the unknown address %s gets an error in the form of its API with a link to the documentation",
    async (path, more, field) => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url });
      const { status, text } = await ask(gateway, { path, body: QUESTION, headers: more });
      expect(status === 404 || status === 501).toBe(true);
      expect(JSON.parse(text)).toHaveProperty(field);
      expect(JSON.parse(text).error.message).toContain(path.split("/").at(-1));
      expect(text).toContain("docs/gateway.md");
      if (path.startsWith("/gemini")) expect(JSON.parse(text).error.status).toBe("NOT_FOUND");
    },
  );
});
