import { describe, expect, test } from "vitest";
import { parseIntent } from "../../../src/recall/rank/question-intent.ts";

describe("parseIntent", () => {
  test("parseIntent distinguishes questions about past replies from new requests", () => {
    for (const question of [
      "Can you remind me of the dish you recommended?",
      "What did you say about the ratio?",
      "What was the shop we talked about?",
    ]) {
      expect(parseIntent(question).aboutAssistant, question).toBe(true);
    }
    for (const question of [
      "Can you recommend a restaurant?",
      "How would you suggest I plan my week?",
      "What is my current goal?",
    ]) {
      expect(parseIntent(question).aboutAssistant, question).toBe(false);
    }
  });

  test("parseIntent recognizes the kind of answer a question wants", () => {
    expect(parseIntent("How much did I spend on the lamp?")).toMatchObject({
      number: true,
      money: true,
      past: true,
    });
    expect(parseIntent("When did I meet Sophia?")).toMatchObject({ time: true, aboutUser: true });
    expect(parseIntent("Who gave me the mixer?")).toMatchObject({ name: true });
    expect(parseIntent("Any tips on what to bake?")).toMatchObject({ request: true });
  });

  test("parseIntent distinguishes a question about words from one about work by its main verb", () => {
    for (const question of ["When did we decide to fix the cache key?", "What did you say about the commit?"])
      expect(parseIntent(question).wants, question).toBe("words");
    expect(parseIntent("When did we fix the cache key?").wants).toBe("work");
  });

  test("parseIntent recognizes a survey, which asks for nothing in particular", () => {
    expect(parseIntent("Can you summarize how my project has progressed over time?")).toMatchObject({
      survey: true,
      recap: true,
      request: false,
      past: false,
    });
    for (const question of [
      "How have my habits changed since spring?",
      "Give me an overview of the move.",
      "请总结一下我们的搬家计划",
    ])
      expect(parseIntent(question), question).toMatchObject({ survey: true, recap: true });
    expect(parseIntent("How many times has Ann gone to the sea?")).toMatchObject({ survey: false });
    for (const question of ["In which order did we visit the towns?", "Give me a timeline of the move."])
      expect(parseIntent(question)).toMatchObject({ survey: true, recap: false });
    expect(parseIntent("What did I buy in order to fix the lamp?")).toMatchObject({ survey: false });
  });

  test("parseIntent recognizes past actions of the assistant by any verb, and only those", () => {
    for (const question of [
      "Which lamp had you praised?",
      "What did you paint for me?",
      "你上次推荐的灯是哪个？",
    ])
      expect(parseIntent(question).aboutAssistant, question).toBe(true);
    for (const question of ["How would you proceed?", "你推荐哪个灯？"])
      expect(parseIntent(question).aboutAssistant, question).toBe(false);
  });
});
