import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";

const REFUSAL =
  '{"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired."}}';

/** A provider that accepts one token at a time. */
async function startRotating() {
  let valid = "sk-ant-oat01-first";
  const answering: Answering = (heard, response, index) =>
    heard.header("authorization") === `Bearer ${valid}`
      ? says(`Reply ${index + 1}.`)(heard, response, index)
      : void response
          .writeHead(401, { "content-type": "application/json", "x-should-retry": "false" })
          .end(REFUSAL);
  const upstream = await startUpstream(answering);
  return {
    upstream,
    rotate: (next: string) => {
      valid = next;
    },
  };
}

test("Claude Code with a login goes on in one session when its token is refused and renewed", async () => {
  const { upstream, rotate } = await startRotating();
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  const beta = "claude-code-20250219,oauth-2025-04-20";
  Object.assign(agent.headers, { authorization: "Bearer sk-ant-oat01-first", "anthropic-beta": beta });
  agent.elements.push({ role: "user", content: "Begin." });
  const first = agent.read((await agent.send({ path: "/v1/messages?beta=true" })).text);
  agent.elements.push(...first.elements, { role: "user", content: "Go on." });
  rotate("sk-ant-oat01-second");
  const refused = await agent.send({ path: "/v1/messages?beta=true" });
  expect([refused.status, refused.text, refused.header("x-should-retry")]).toEqual([401, REFUSAL, "false"]);
  agent.headers.authorization = "Bearer sk-ant-oat01-second";
  const second = await agent.send({ path: "/v1/messages?beta=true" });
  expect(second.status).toBe(200);
  for (const heard of upstream.heard) {
    expect(heard.url).toBe("/v1/messages?beta=true");
    expect(heard.header("anthropic-beta")).toBe(beta);
    expect(heard.body.toString()).not.toContain("longhaul");
  }
  const threads = await threadsOf(gateway, "main");
  expect(threads).toHaveLength(1);
});

test("Codex with a ChatGPT login reaches ChatGPT's back end, and Codex with a key reaches OpenAI", async () => {
  const { upstream, rotate } = await startRotating();
  const openai = await startUpstream(says("From OpenAI."));
  const gateway = await startGateway({
    upstream: [
      { name: "openai", baseUrl: openai.url, apis: ["openai-responses"], keyEnv: "OPENAI_API_KEY" },
      {
        name: "chatgpt",
        baseUrl: `${upstream.url}/backend-api/codex`,
        apis: ["openai-responses"],
        prefix: "chatgpt/",
      },
    ],
    env: { OPENAI_API_KEY: "sk-of-the-gateway" },
  });
  await gateway.kernel.memories().remember("Answer in German.", { by: "user" });
  const agent = new TestAgent(gateway, "openai-responses");
  Object.assign(agent.headers, { authorization: "Bearer first-login", "chatgpt-account-id": "account-1" });
  rotate("first-login");
  await agent.say("Begin.");
  rotate("second-login");
  agent.headers.authorization = "Bearer second-login";
  await agent.say("Go on.");
  expect(upstream.heard.map(({ url }) => url)).toEqual([
    "/backend-api/codex/responses",
    "/backend-api/codex/responses",
  ]);
  expect(upstream.heard[1]?.header("chatgpt-account-id")).toBe("account-1");
  expect(upstream.heard[1]?.body.toString()).not.toContain("German");
  expect(await threadsOf(gateway, "main")).toHaveLength(1);
  const other = new TestAgent(gateway, "openai-responses");
  other.headers.authorization = "Bearer sk-own";
  await other.say("Hello.");
  expect(openai.heard[0]?.header("authorization")).toBe("Bearer sk-of-the-gateway");
});
