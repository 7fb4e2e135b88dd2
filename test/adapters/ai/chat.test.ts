import { generateText, type ModelMessage, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { getConversation } from "../../../src/adapters/ai/sdk-conversation.ts";
import { APIS, lineOf, logOf, reply, speaking } from "./speaking.ts";

describe("a chat", () => {
  test.each(APIS)("a chat of several turns is logged once, word by word: %s", async (api) => {
    const { server, session, plain } = await speaking();
    const model = withLonghaul(plain(api), { session });
    const messages: ModelMessage[] = [];
    for (const number of [1, 2, 3]) {
      server.script(
        reply({
          text: `answer ${number}`,
          reasoning: `thought ${number}`,
          usage: { input: 50 * number, output: 7 },
        }),
      );
      messages.push({ role: "user", content: `question ${number}` });
      const { text, response } = await generateText({ model, instructions: "Be brief.", messages });
      expect(text).toBe(`answer ${number}`);
      messages.push(...response.messages);
    }
    const line = await lineOf(session);
    expect(line.map((said) => said.replace(/\(.*\) \| /, ""))).toEqual([
      "user: question 1",
      "assistant: answer 1",
      "user: question 2",
      "assistant: answer 2",
      "user: question 3",
      "assistant: answer 3",
    ]);
    const log = await logOf(session);
    expect(log.filter(({ kind }) => kind === "message")).toHaveLength(6);
    expect(log.filter(({ kind }) => kind === "line")).toHaveLength(0);
    const usage = log.filter((entry) => entry.kind === "usage");
    expect(usage.map(({ usage }) => usage.inputTokens)).toEqual([50, 100, 150]);
    const sent = JSON.stringify(server.requests[2]?.body);
    expect(sent).toMatch(/question 1.*question 2.*question 3/);
    // Requests to OpenAI's own server refer to its replies by id.
    if (api !== "openai-responses") expect(sent).toMatch(/question 1.*answer 1.*question 2.*answer 2/);
    expect(sent).toContain("Be brief.");
  });

  test.each(APIS)("a streamed chat is logged once, word by word: %s", async (api) => {
    const { server, session, plain } = await speaking();
    const model = withLonghaul(plain(api), { session });
    const messages: ModelMessage[] = [];
    for (const number of [1, 2]) {
      server.script(
        reply({
          text: `streamed answer ${number}`,
          reasoning: "let me think",
          usage: { input: 60, output: 9 },
        }),
      );
      messages.push({ role: "user", content: `question ${number}` });
      const result = streamText({ model, messages });
      let text = "";
      for await (const piece of result.textStream) text += piece;
      expect(text).toBe(`streamed answer ${number}`);
      messages.push(...(await result.response).messages);
    }
    const line = await lineOf(session);
    expect(line.map((said) => said.replace(/\(.*\) \| /, ""))).toEqual([
      "user: question 1",
      "assistant: streamed answer 1",
      "user: question 2",
      "assistant: streamed answer 2",
    ]);
    expect(await session.drafts()).toEqual([]);
    const usage = (await logOf(session)).filter((entry) => entry.kind === "usage");
    expect(usage.map(({ usage }) => usage.outputTokens)).toEqual([9, 9]);
  });

  test("a chat stores the provider's signature of a reply and sends it back", async () => {
    const { server, session, model } = await speaking();
    server.script(reply({ text: "yes", reasoning: "because" }), reply("fine"));
    const first = streamText({ model: model(), prompt: "well?" });
    await first.consumeStream();
    const messages = [{ role: "user", content: "well?" } as const, ...(await first.response).messages];
    await generateText({ model: model(), messages: [...messages, { role: "user", content: "why?" }] });
    const [, said] = await logOf(session);
    expect(said).toMatchObject({
      message: { parts: [{ type: "reasoning", text: "because", opaque: "c2lnbmVk" }, { text: "yes" }] },
    });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"signature":"c2lnbmVk"');
    expect(await lineOf(session)).toHaveLength(4);
  });

  test("a chat goes on after a restart, because the caller's history is recognized in the log", async () => {
    const { server, kernel, session, plain } = await speaking();
    server.script(reply("one"), reply("two"));
    const messages: ModelMessage[] = [{ role: "user", content: "count" }];
    messages.push(
      ...(await generateText({ model: withLonghaul(plain(), { session }), messages })).response.messages,
    );
    const again = await kernel.session(session.id);
    messages.push({ role: "user", content: "on" });
    await generateText({ model: withLonghaul(plain(), { session: again }), messages });
    expect(await lineOf(session)).toEqual(["user: count", "assistant: one", "user: on", "assistant: two"]);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(4);
  });

  test("a caller may leave the history of a chat to the session", async () => {
    const { server, session, model, kernel } = await speaking();
    server.script(reply("Rome"), reply("Paris"));
    const speaker = model({ history: "session", blobs: kernel.blobs });
    await generateText({ model: speaker, prompt: "Capital of Italy?" });
    await generateText({ model: speaker, prompt: "And of France?" });
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/Italy.*Rome.*France/);
    expect(await lineOf(session)).toEqual([
      "user: Capital of Italy?",
      "assistant: Rome",
      "user: And of France?",
      "assistant: Paris",
    ]);
  });

  test("a chat passes headers, provider options and cache marks on unchanged", async () => {
    const { server, model } = await speaking();
    server.script(reply("ok"));
    await generateText({
      model: model(),
      headers: { "x-own": "kept" },
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
      messages: [
        {
          role: "user",
          content: "hello",
          providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
        },
      ],
    });
    const [request] = server.requests;
    expect(request?.headers["x-own"]).toBe("kept");
    expect(request?.body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 2_000 },
      messages: [{ content: [{ cache_control: { type: "ephemeral" } }] }],
    });
  });
});

describe("a model that speaks in a session", () => {
  test("wrapping a model without a session or with invalid options throws an error", async () => {
    const { session, plain } = await speaking();
    expect(() => withLonghaul(plain(), {} as never)).toThrow("session is undefined");
    expect(() => withLonghaul(plain(), { session, history: "none" as never })).toThrow(
      '"caller" or "session"',
    );
  });

  test("a call that the window makes for itself is answered at once and leaves no words in the log", async () => {
    const { server, session, model } = await speaking();
    server.always(reply("a summary"));
    const speaker = model();
    const conversation = getConversation(session);
    const { text } = await conversation.runInTurn(() =>
      generateText({ model: speaker, prompt: "Sum it up" }),
    );
    expect(text).toBe("a summary");
    expect((await session.head()).seq).toBe(0);
  });
});

describe("a caller who changes the conversation", () => {
  test("a caller who asks for another answer gets one, and the log keeps both", async () => {
    const { server, session, model } = await speaking();
    server.script(reply("first try"), reply("second try"), reply("go on"));
    const speaker = model();
    const asked: ModelMessage = { role: "user", content: "a joke" };
    await generateText({ model: speaker, messages: [asked] });
    const second = await generateText({ model: speaker, messages: [asked] });
    expect(await lineOf(session)).toEqual(["user: a joke", "assistant: second try"]);
    await generateText({
      model: speaker,
      messages: [asked, ...second.response.messages, { role: "user", content: "more" }],
    });
    expect(await lineOf(session)).toEqual([
      "user: a joke",
      "assistant: second try",
      "user: more",
      "assistant: go on",
    ]);
    const said = (await logOf(session)).filter(({ kind }) => kind === "message");
    expect(said).toHaveLength(5);
  });

  test("a caller who returns to an abandoned answer goes on from there", async () => {
    const { server, session, model } = await speaking();
    server.script(reply("first try"), reply("second try"), reply("go on"));
    const speaker = model();
    const asked: ModelMessage = { role: "user", content: "a joke" };
    const first = await generateText({ model: speaker, messages: [asked] });
    await generateText({ model: speaker, messages: [asked] });
    await generateText({
      model: speaker,
      messages: [asked, ...first.response.messages, { role: "user", content: "more" }],
    });
    expect(await lineOf(session)).toEqual([
      "user: a joke",
      "assistant: first try",
      "user: more",
      "assistant: go on",
    ]);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(5);
  });

  test("a caller who changes the first message begins another line of the session", async () => {
    const { server, session, model } = await speaking();
    server.always(reply("ok"));
    const speaker = model();
    await generateText({ model: speaker, prompt: "Plan a trip to Rome" });
    await generateText({ model: speaker, prompt: "Plan a trip to Oslo" });
    expect(await lineOf(session)).toEqual(["user: Plan a trip to Oslo", "assistant: ok"]);
    const lines = await session.lines();
    expect(lines.length).toBeGreaterThan(1);
  });

  test("a caller who shortens one old message keeps all other messages in place", async () => {
    const { server, session, model } = await speaking();
    server.always(reply("ok"));
    const speaker = model();
    const said: ModelMessage[] = ["one", "two", "three"].flatMap((content): ModelMessage[] => [
      { role: "user", content },
      { role: "assistant", content: `re: ${content}` },
    ]);
    await generateText({ model: speaker, messages: [...said, { role: "user", content: "four" }] });
    const changed = said.with(2, { role: "user", content: "2" });
    await generateText({
      model: speaker,
      messages: [
        ...changed,
        { role: "user", content: "four" },
        { role: "assistant", content: "ok" },
        { role: "user", content: "five" },
      ],
    });
    expect(await lineOf(session)).toEqual([
      "user: one",
      "assistant: re: one",
      "user: 2",
      "assistant: re: two",
      "user: three",
      "assistant: re: three",
      "user: four",
      "assistant: ok",
      "user: five",
      "assistant: ok",
    ]);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(11);
  });
});
