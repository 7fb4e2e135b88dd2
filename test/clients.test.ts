import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { countEdited, differences } from "../clients/identity.ts";
import { SCENARIOS } from "../clients/scenario.ts";
import { startTap, type TappedRequest } from "../clients/tap.ts";
import type { Trial } from "../clients/trial.ts";
import { PROMPTS } from "../clients/upstream/answer.ts";
import {
  type SeenRequest,
  startUpstream,
  type UpstreamOptions,
} from "../clients/upstream/scripted-upstream.ts";
import { judge } from "../clients/verdict.ts";
import { brokenRules } from "./support/provider-rules/message-order.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function upstream(options: Partial<UpstreamOptions> = {}) {
  const started = await startUpstream({ project: "/repo", files: ["a.txt", "b.txt"], ...options });
  closing.push(started.close);
  return started;
}

async function ask(url: string, path: string, body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const reader = {
  name: "Read",
  input_schema: { type: "object", properties: { file_path: { type: "string" } } },
};
const prompt = { role: "user", content: PROMPTS[0] };
const called = (id: string, file: string) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "Read", input: { file_path: `/repo/${file}` } }],
});
const given = (id: string, text: string) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content: text }],
});

describe("the scripted upstream", () => {
  test("the scripted upstream reads every file by the tool that is offered, and then tells what they say", async () => {
    const { url, requests } = await upstream();
    const messages: unknown[] = [prompt];
    const said = async () => JSON.parse((await ask(url, "/v1/messages", { messages, tools: [reader] })).text);

    expect((await said()).content.at(-1).input).toEqual({ file_path: "/repo/a.txt" });
    messages.push(called("1", "a.txt"), given("1", "The word of the day is heliotrope."));
    expect((await said()).content.at(-1).input).toEqual({ file_path: "/repo/b.txt" });
    messages.push(called("2", "b.txt"), given("2", "nothing"));
    expect((await said()).content).toEqual([{ type: "text", text: "The word of the day is heliotrope." }]);
    expect(requests.map(({ purpose }) => purpose)).toEqual(["read", "read", "final"]);
  });

  test("the scripted upstream reads with a shell where no tool reads, on the other APIs too", async () => {
    const { url } = await upstream();
    const shell = { type: "function", name: "exec_command", parameters: { properties: { cmd: {} } } };
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: PROMPTS[0] }] }];
    const { output } = JSON.parse((await ask(url, "/v1/responses", { input, tools: [shell] })).text);
    expect(output.at(-1)).toMatchObject({ name: "exec_command", arguments: '{"cmd":"cat a.txt"}' });

    const tools = [
      { type: "function", function: { name: "read", parameters: { properties: { path: {} } } } },
    ];
    const { choices } = JSON.parse(
      (await ask(url, "/v1/chat/completions", { messages: [prompt], tools })).text,
    );
    expect(choices[0].message.tool_calls[0].function).toEqual({
      name: "read",
      arguments: '{"path":"/repo/a.txt"}',
    });
  });

  test("the scripted upstream names and sums up conversations when it is asked to", async () => {
    const { url, requests } = await upstream();
    const system = "You are a title generator. Output only a title.";
    await ask(url, "/v1/messages", { system, messages: [prompt] });
    const order = { role: "user", content: "Create a detailed summary of the conversation so far." };
    await ask(url, "/v1/messages", { messages: [prompt, order], tools: [reader] });
    expect(requests.map(({ purpose }) => purpose)).toEqual(["title", "summary"]);
  });

  test("the scripted upstream does what is scripted to go wrong, and only that", async () => {
    const { url } = await upstream({ faults: { 1: "overflow", 2: "rate-limit", 3: "cut" } });
    const body = { messages: [prompt], tools: [reader], stream: true };
    expect(await ask(url, "/v1/messages", body)).toMatchObject({
      status: 400,
      text: expect.stringMatching(/prompt is too long: \d+ tokens > -?\d+ maximum/),
    });
    expect((await ask(url, "/v1/messages", body)).status).toBe(429);
    await expect(ask(url, "/v1/messages", body)).rejects.toThrow();
    expect((await ask(url, "/v1/messages", body)).text).toContain("message_stop");
  });

  test("the scripted upstream enforces a window of so many reads", async () => {
    const { url } = await upstream({ files: ["a.txt", "b.txt", "c.txt"], readsWithRoom: 1.5 });
    const messages: unknown[] = [prompt];
    const statuses: number[] = [];
    for (const [index, file] of ["a.txt", "b.txt"].entries()) {
      statuses.push((await ask(url, "/v1/messages", { messages, tools: [reader] })).status);
      messages.push(called(`${index}`, file), given(`${index}`, "x".repeat(4_000)));
    }
    statuses.push((await ask(url, "/v1/messages", { messages, tools: [reader] })).status);
    expect(statuses).toEqual([200, 200, 400]);
  });
});

describe("the upstream of a long turn", () => {
  const answered = async (url: string, messages: unknown[]) => {
    const { status, text } = await ask(url, "/v1/messages", { messages, tools: [reader] });
    return { status, blocks: status === 200 ? JSON.parse(text).content : [] };
  };

  test("the upstream of a long turn refuses every request above its window, and names the window", async () => {
    const { url } = await upstream({ window: 1_000 });
    const messages = [prompt, called("1", "a.txt"), given("1", "x".repeat(4_000))];
    const { status, text } = await ask(url, "/v1/messages", { messages, tools: [reader] });
    expect(status).toBe(400);
    expect(text).toMatch(/prompt is too long: \d+ tokens > 1000 maximum/);
    expect((await answered(url, messages.slice(0, 1))).status).toBe(200);
  });

  test("the upstream of a long turn refuses every request with so many results, summaries included, and answers the others", async () => {
    const { url, requests } = await upstream({ refusedResults: 2 });
    const one = [prompt, called("1", "a.txt"), given("1", "text")];
    const two = [...one, called("2", "b.txt"), given("2", "text")];
    const order = { role: "user", content: "Create a detailed summary of the conversation so far." };
    expect((await answered(url, one)).status).toBe(200);
    expect((await answered(url, two)).status).toBe(400);
    expect((await answered(url, [...two, order])).status).toBe(400);
    expect(requests.map(({ fault }) => fault)).toEqual([undefined, "overflow", "overflow"]);
  });

  test("the upstream of a long turn writes down which files its replies ask for, and reads again what a request no longer mentions", async () => {
    const { url, requests } = await upstream();
    await answered(url, [prompt]);
    await answered(url, [prompt, called("1", "a.txt"), given("1", "text")]);
    await answered(url, [prompt, called("2", "b.txt"), given("2", "text")]);
    expect(requests.map(({ reads }) => reads)).toEqual([["a.txt"], ["b.txt"], ["a.txt"]]);
  });

  test("the upstream of a long turn sums up which files were read and what they say, so that an agent can go on from there", async () => {
    const { url } = await upstream();
    const order = { role: "user", content: "Create a detailed summary of the conversation so far." };
    const { blocks } = await answered(url, [
      prompt,
      called("1", "a.txt"),
      given("1", "The word of the day is heliotrope."),
      order,
    ]);
    expect(blocks[0].text).toMatch(
      /^<summary>.*Read so far: a\.txt\. The word of the day is heliotrope\.<\/summary>$/,
    );
  });

  test("the upstream of a long turn gives up, with a wrong answer, when it has read the same files again and again", async () => {
    const { url } = await upstream({ files: ["a.txt", "b.txt"] });
    let last = await answered(url, [prompt]);
    for (let count = 1; count < 30; count++) last = await answered(url, [prompt]);
    expect(last.blocks).toEqual([{ type: "text", text: "There are too many notes." }]);
  });
});

describe("the tap", () => {
  test("the tap passes on what comes, byte for byte, and writes it down", async () => {
    const { url, requests } = await upstream();
    const tap = await startTap(url);
    closing.push(tap.close);
    const body = JSON.stringify({ messages: [prompt], unknown: 1.0 });
    await new Promise<void>((resolve) => {
      const outgoing = request(`${tap.url}/v1/messages?beta=true`, { method: "POST" }, (response) => {
        response.resume().once("end", resolve);
      });
      outgoing.setHeader("X-Odd-Case", "Kept");
      outgoing.end(body);
    });
    expect(tap.requests[0]).toMatchObject({ status: 200, url: "/v1/messages?beta=true" });
    expect(tap.requests[0]?.body.toString()).toBe(body);
    expect(differences(tap.requests, requests)).toEqual([]);
  });
});

describe("the comparison", () => {
  const sent = (body: string, rawHeaders: readonly string[] = ["A", "1", "B", "2"]): TappedRequest => ({
    method: "POST",
    url: "/v1/messages",
    rawHeaders,
    body: Buffer.from(body),
  });
  const seen = (body: string, rawHeaders: readonly string[] = ["A", "1", "B", "2"]): SeenRequest => ({
    ...sent(body, rawHeaders),
    api: "anthropic",
    reads: [],
  });
  const trial = (way: Trial["way"], answer: string, more: Partial<Trial> = {}): Trial => ({
    way,
    turns: [
      {
        answer,
        isRight: answer === "right",
        exitCode: 0,
        isTimedOut: false,
        stdout: answer,
        stderr: "",
        durationMs: 1,
      },
    ],
    sent: [sent("{}")],
    seen: [seen("{}")],
    threads: way === "direct" ? [] : [{ id: "one", kind: "main", entries: 2 }],
    log: "",
    ...more,
  });
  const normal = SCENARIOS[0] as (typeof SCENARIOS)[number];

  test("the comparison finds nothing between requests that arrived as they were sent, in whatever order", () => {
    expect(differences([sent("1"), sent("2")], [seen("2"), seen("1")])).toEqual([]);
  });

  test("the comparison finds a changed body, a lost header, another order and a request nobody sent", () => {
    expect(differences([sent("1")], [seen("1 ")])).toHaveLength(2);
    expect(differences([sent("1")], [seen("1", ["A", "1"])])).toEqual([
      expect.stringContaining("lost header B: 2"),
    ]);
    expect(differences([sent("1")], [seen("1", ["B", "2", "A", "1"])])).toEqual([
      expect.stringContaining("another order"),
    ]);
    expect(countEdited([sent("1")], [seen("1"), seen("2")])).toBe(1);
  });

  test("the comparison is content with the same outcome or a better one, and with nothing worse", () => {
    expect(judge(normal, trial("direct", "right"), [trial("longhaul", "right")]).isFine).toBe(true);
    expect(judge(normal, trial("direct", "wrong"), [trial("longhaul", "right")]).isFine).toBe(true);
    expect(judge(normal, trial("direct", "right"), [trial("longhaul", "wrong")]).isFine).toBe(false);
  });

  test("the comparison wants one main thread, bytes untouched without a policy, and no overflow to reach the agent", () => {
    const direct = trial("direct", "right");
    const problems = (way: Trial["way"], more: Partial<Trial>) =>
      judge(normal, direct, [trial(way, "right", more)]).problems;
    expect(problems("longhaul", { threads: [] })).toEqual(["longhaul: 0 main threads in the store"]);
    expect(problems("none", { seen: [seen("{ }")] })).not.toEqual([]);
    const refused = { ...sent("{}"), status: 400, error: "prompt is too long: 2 tokens > 1 maximum" };
    expect(problems("longhaul", { sent: [refused] })).toEqual(["longhaul: 1 overflows reached the agent"]);
  });

  test("the comparison wants a turn longer than the window to be right within so many requests, whatever happens directly", () => {
    const long = { ...normal, files: ["a.txt", "b.txt"], maxRequests: 2 };
    const reads = (...files: string[]) => ({ ...seen("{}"), reads: files });
    const verdict = (answer: string, requests: readonly SeenRequest[]) =>
      judge(long, trial("direct", "wrong"), [trial("longhaul", answer, { seen: requests })]);
    const fine = verdict("right", [reads("a.txt"), reads("b.txt")]);
    expect(fine.problems).toEqual([]);
    expect(fine.notes).toContain("longhaul: 2 requests, reads of each file 1 1");
    expect(verdict("wrong", [reads("a.txt")]).problems).toHaveLength(1);
    const own = { seen: [reads("a.txt", "b.txt")] };
    const ended = judge(long, trial("direct", "wrong", own), [trial("longhaul", "wrong", own)]);
    expect(ended.problems).toEqual([]);
    const refused = { seen: [{ ...reads("a.txt", "b.txt"), fault: "overflow" as const }] };
    const filled = judge(long, trial("direct", "wrong", refused), [trial("longhaul", "wrong", own)]);
    expect(filled.problems).toHaveLength(1);
    expect(verdict("right", [reads("a.txt"), reads("a.txt"), reads("b.txt")]).problems).toEqual([
      "longhaul: 3 requests; at most 2 are needed",
    ]);
  });

  test("the comparison wants a refusal without end to reach the agent, after few requests", () => {
    const ever = { ...normal, refusedResults: 2 };
    const refused = { ...sent("{}"), status: 400, error: "prompt is too long: 2 tokens > 1 maximum" };
    const problems = (more: Partial<Trial>) =>
      judge(ever, trial("direct", "wrong"), [trial("longhaul", "wrong", more)]).problems;
    expect(problems({ sent: [refused] })).toEqual([]);
    expect(problems({})).toEqual(["longhaul: the provider's error did not reach the agent"]);
    const many = Array.from({ length: 21 }, () => seen("{}"));
    expect(problems({ sent: [refused], seen: many })).toEqual(["longhaul: 21 requests reached the upstream"]);
    const direct = trial("direct", "wrong", { seen: many });
    const through = trial("longhaul", "wrong", { sent: [refused], seen: many });
    expect(judge(ever, direct, [through]).problems.filter((one) => one.includes("requests"))).toEqual([]);
  });

  test("the comparison knows what providers refuse", () => {
    const anthropic = (messages: unknown[]) =>
      brokenRules("anthropic", Buffer.from(JSON.stringify({ messages })));
    expect(anthropic([prompt, called("1", "a"), given("1", "text")])).toEqual([]);
    expect(anthropic([prompt, called("1", "a"), given("2", "text")])).toHaveLength(2);
    const chat = (messages: unknown[]) =>
      brokenRules("openai-chat", Buffer.from(JSON.stringify({ messages })));
    const call = { role: "assistant", tool_calls: [{ id: "1" }] };
    expect(chat([prompt, call, { role: "tool", tool_call_id: "1" }])).toEqual([]);
    expect(chat([prompt, call, prompt, { role: "tool", tool_call_id: "1" }])).toHaveLength(2);
    const input = [{ type: "function_call_output", call_id: "1" }];
    expect(brokenRules("openai-responses", Buffer.from(JSON.stringify({ input })))).toEqual([
      "output 1 has no call",
    ]);
  });
});

describe("the thinking of the scripted upstream", () => {
  test("the scripted upstream thinks where it is asked to, and refuses thought behind a change", async () => {
    const { url, requests } = await upstream();
    const messages: unknown[] = [prompt];
    const body = { model: "claude-opus-5-5", thinking: { type: "adaptive" }, messages, tools: [reader] };
    const { content } = JSON.parse((await ask(url, "/v1/messages", body)).text);
    expect(content[0]).toMatchObject({ type: "thinking", signature: expect.any(String) });
    messages.push({ role: "assistant", content }, given(content.at(-1).id, "nothing"));
    const changed = { ...body, system: "Be bold." };
    for (const path of ["/v1/messages/count_tokens", "/v1/messages"]) {
      const refused = await ask(url, path, changed);
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining("bound to a different conversation"),
      ]);
    }
    expect((await ask(url, "/v1/messages", body)).status).toBe(200);
    expect(requests.map(({ fault }) => fault)).toEqual([undefined, "reasoning", "reasoning", undefined]);
  });
});
