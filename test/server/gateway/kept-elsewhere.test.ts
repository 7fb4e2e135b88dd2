import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ask, startGateway } from "../../support/gateway.ts";
import { beginStream, eventsOf, startUpstream, type Upstream } from "../../support/upstream.ts";
import { onlyLine } from "./only-line.ts";

const TOOLS = [{ name: "read", description: "Reads.", input_schema: { type: "object" } }];

/** A provider with a unique id per reply, which identifies Anthropic's threads. */
async function startThreads(): Promise<Upstream> {
  return startUpstream((heard, response, index) => {
    const events = eventsOf(heard, { text: `Reply ${index + 1}.` }).join("");
    beginStream(response).end(events.replaceAll(/"msg_01\w*"/g, `"msg_${index + 1}"`));
  });
}

const said = (content: string, thread: object, rest: object = {}) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  stream: true,
  thread,
  messages: [{ role: "user", content }],
  ...rest,
});

const behind = (id: string) => ({ type: "continue", previous_message_id: id });

describe("a thread kept by the provider", () => {
  test("a thread kept by the provider goes through unchanged and is one session, even after a restart", async () => {
    const upstream = await startThreads();
    const first = await startGateway({ upstream: upstream.url });
    const path = "/v1/messages";
    const bodies = [
      said("Remember the number 42.", { type: "create" }, { tools: TOOLS }),
      said("Which number was it?", behind("msg_1")),
      said("And now?", behind("msg_2")),
      said("And then?", behind("msg_3")),
    ];
    for (const body of bodies.slice(0, 2)) await ask(first, { path, body });
    await first.close();
    const second = await startGateway({ upstream: upstream.url, path: first.path });
    for (const body of bodies.slice(2)) await ask(second, { path, body });
    expect(upstream.heard.map(({ json }) => json)).toEqual(bodies);
    expect(await onlyLine(second)).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And now?",
      "assistant|Reply 3.",
      "user|And then?",
      "assistant|Reply 4.",
    ]);
  });

  test("a thread kept by the provider starts another branch when the client continues an earlier message", async () => {
    const upstream = await startThreads();
    const gateway = await startGateway({ upstream: upstream.url });
    const path = "/v1/messages";
    await ask(gateway, { path, body: said("One.", { type: "create" }) });
    await ask(gateway, { path, body: said("Two.", behind("msg_1")) });
    await ask(gateway, { path, body: said("Two, but other.", behind("msg_1")) });
    expect(await onlyLine(gateway)).toEqual([
      "user|One.",
      "assistant|Reply 1.",
      "user|Two, but other.",
      "assistant|Reply 3.",
    ]);
  });
});

describe("references to items that the provider keeps", () => {
  const user = (text: string) => ({ role: "user", content: [{ type: "input_text", text }] });
  const named = (id: string) => ({ type: "item_reference", id });

  async function world() {
    const upstream = await startUpstream((heard, response, index) => {
      const events = eventsOf(heard, { text: `Reply ${index + 1}.` }).join("");
      beginStream(response).end(events.replaceAll('"msg_1"', `"msg_${index + 1}"`));
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const send = (input: readonly object[]) =>
      ask(gateway, { path: "/v1/responses", body: { model: "gpt-4.1", stream: true, input } });
    return { upstream, gateway, send };
  }

  test("references to items that the provider keeps go out unchanged, and the log has their messages", async () => {
    const { upstream, gateway, send } = await world();
    const inputs = [
      [user("One.")],
      [user("One."), named("msg_1"), user("Two.")],
      [user("One."), named("msg_1"), user("Two."), named("msg_2"), user("Three.")],
    ];
    for (const input of inputs) await send(input);
    expect(upstream.heard.map(({ json }) => json.input)).toEqual(inputs);
    expect(await onlyLine(gateway)).toEqual([
      "user|One.",
      "assistant|Reply 1.",
      "user|Two.",
      "assistant|Reply 2.",
      "user|Three.",
      "assistant|Reply 3.",
    ]);
  });

  test("a gateway that did not relay a referenced item finds it in the log", async () => {
    const { upstream, gateway, send } = await world();
    const body = (input: readonly object[]) => ({ model: "gpt-4.1", stream: true, input });
    const first = [user("One.")];
    const second = [...first, named("msg_1"), user("Two.")];
    const third = [...second, named("msg_2"), user("Three.")];
    await send(first);
    const other = await startGateway({ upstream: upstream.url, path: gateway.path });
    await ask(other, { path: "/v1/responses", body: body(second) });
    await send(third);
    expect(upstream.heard.map(({ json }) => json.input)).toEqual([first, second, third]);
    expect(await onlyLine(other)).toEqual([
      "user|One.",
      "assistant|Reply 1.",
      "user|Two.",
      "assistant|Reply 2.",
      "user|Three.",
      "assistant|Reply 3.",
    ]);
  });

  test("references to unknown items are forwarded", async () => {
    const { upstream, send } = await world();
    const input = [user("One."), named("msg_of_another_day"), user("Two.")];
    const answer = await send(input);
    expect(answer.status).toBe(200);
    expect(upstream.heard[0]?.json.input).toEqual(input);
  });
});

describe("a count of tokens", () => {
  const body = { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "Hello." }] };
  const packed = gzipSync(JSON.stringify(body));
  const question = {
    path: "/v1/messages/count_tokens",
    body: packed,
    headers: { "content-encoding": "gzip", "accept-encoding": "gzip, br" },
  };
  const count = () =>
    startUpstream((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":7}'),
    );

  test("a count of tokens goes through byte for byte if edits are off", async () => {
    const upstream = await count();
    const gateway = await startGateway({ upstream: upstream.url, config: { policy: "none" } });
    expect((await ask(gateway, question)).text).toBe('{"input_tokens":7}');
    const [heard] = upstream.heard;
    expect(heard?.body).toEqual(packed);
    expect(heard?.header("content-encoding")).toBe("gzip");
    expect(heard?.header("accept-encoding")).toBe("gzip, br");
  });

  test("a compressed request to count tokens reaches the upstream in a form that it can read", async () => {
    const upstream = await count();
    const gateway = await startGateway({ upstream: upstream.url });
    expect((await ask(gateway, question)).text).toBe('{"input_tokens":7}');
    const [heard] = upstream.heard;
    const isPacked = heard?.header("content-encoding") === "gzip";
    const bytes = heard?.body ?? Buffer.alloc(0);
    expect(JSON.parse((isPacked ? gunzipSync(bytes) : bytes).toString())).toEqual(body);
  });
});
