import { describe, expect, test } from "vitest";
import { findViolations } from "../../../src/server/gateway/outgoing/check-rules.ts";
import { ask, logOf, quiet, startGateway, threadsOf } from "../../support/gateway.ts";
import { beginStream, eventsOf, startUpstream } from "../../support/upstream.ts";

const TURNS = 16;
const TOOLS = [{ name: "read", description: "Reads.", input_schema: { type: "object" } }];
const REMINDER = { role: "user", content: "<internal>No tasks are running.</internal>" };

/** A provider whose every reply calls a tool, with an id that the client does not keep. */
function startCalling() {
  return startUpstream((heard, response, index) => {
    const call = { id: `toolu_${index + 1}`, name: "read", input: { path: `notes-${index + 1}.txt` } };
    const usage = { input: Math.ceil(heard.body.length / 4), output: 20 };
    beginStream(response).end(eventsOf(heard, { text: "Reading.", toolCalls: [call], usage }).join(""));
  });
}

const called = (number: number) => ({
  role: "assistant",
  content: [
    { type: "text", text: "Reading." },
    { type: "tool_use", id: `toolu${number}`, name: "read", input: { path: `notes-${number}.txt` } },
  ],
});

const given = (number: number) => ({
  role: "user",
  content: [
    { type: "tool_result", tool_use_id: `toolu${number}`, content: `notes-${number} said so. `.repeat(300) },
  ],
});

describe("a client that rewrites the ids of calls", () => {
  test("a client that renames calls and sends reminders has its window edited by the provider's rules", async () => {
    const upstream = await startCalling();
    const models = { "claude-sonnet-4-5": { window: 16_000, maxOutput: 1_000 } };
    const first = await startGateway({ upstream: upstream.url, config: { models } });
    let gateway = first;
    const messages: object[] = [{ role: "user", content: "Read all the notes." }];
    for (let number = 1; number <= TURNS; number++) {
      const said = [...messages, ...(number > 1 ? [REMINDER] : [])];
      const body = {
        model: "claude-sonnet-4-5",
        max_tokens: 500,
        stream: true,
        tools: TOOLS,
        messages: said,
      };
      expect((await ask(gateway, { path: "/v1/messages", body })).status).toBe(200);
      messages.push(called(number), given(number));
      if (number !== TURNS / 2) continue;
      await gateway.close();
      gateway = await startGateway({ upstream: upstream.url, config: { models }, path: first.path });
    }
    for (const { json } of upstream.heard) expect(findViolations("anthropic", json.messages)).toEqual([]);
    for (const { json } of upstream.heard.slice(1))
      expect(
        json.messages.filter(({ content }: { content: unknown }) => content === REMINDER.content),
      ).toHaveLength(1);
    const last = upstream.heard.at(-1)?.json.messages ?? [];
    expect(JSON.stringify(last).length).toBeLessThan(JSON.stringify(messages).length / 2);
    await quiet(gateway);
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(1);
    const entries = await logOf(await gateway.kernel.session(threads[0]?.id));
    const ids = (type: string) =>
      entries.flatMap(({ message }) =>
        message.parts.flatMap((part) => (part.type === type && "callId" in part ? [part.callId] : [])),
      );
    expect(ids("tool-call")).toEqual(expect.arrayContaining(ids("tool-result")));
  });

  test("a client that goes back to another call of the same tool keeps the ids of that call", async () => {
    const upstream = await startCalling();
    const gateway = await startGateway({ upstream: upstream.url });
    const send = (messages: readonly object[]) =>
      ask(gateway, {
        path: "/v1/messages",
        body: { model: "claude-sonnet-4-5", max_tokens: 500, stream: true, tools: TOOLS, messages },
        headers: { "x-longhaul-session": "one" },
      });
    const question = { role: "user", content: "Read all the notes." };
    await send([question]);
    const another = [question, { role: "user", content: "Only the last ones." }, called(8), given(8)];
    await send([...another, { role: "user", content: "Go on." }]);
    expect(upstream.heard.at(-1)?.json.messages).toHaveLength(5);
    const [thread] = await threadsOf(gateway);
    const entries = await logOf(await gateway.kernel.session(thread?.id));
    const results = entries.flatMap(({ message }) =>
      message.parts.filter(({ type }) => type === "tool-result"),
    );
    expect(results).toEqual([expect.objectContaining({ callId: "toolu8" })]);
  });
});
