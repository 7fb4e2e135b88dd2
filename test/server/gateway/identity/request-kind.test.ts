import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import {
  detectRequestKind,
  type RequestFacts,
} from "../../../../src/server/gateway/identity/request-kind.ts";

const TOOLS = ["read", "write"];
const HISTORY: readonly MessageInput[] = [
  { role: "user", text: "Fix the login." },
  { role: "assistant", text: "I looked at it." },
  { role: "tool", parts: [{ type: "tool-result", callId: "c", output: "ok" }] },
  { role: "assistant", text: "It works now." },
];
const TRANSCRIPT = "<conversation>\n[User]: Fix the login.\n[Assistant]: It works now.\n</conversation>\n\n";

/** A message at the end of a conversation. */
const later = (text: string, facts: Partial<RequestFacts> = {}): RequestFacts => ({
  lead: "You are an agent that writes code.",
  toolNames: TOOLS,
  messages: [...HISTORY, { role: "user", text }],
  ...facts,
});

/** A message in a separate request. */
const alone = (lead: string, text: string, facts: Partial<RequestFacts> = {}): RequestFacts => ({
  lead,
  toolNames: [],
  messages: [{ role: "user", text }],
  ...facts,
});

/** The repeated conversation has tools, and this request offers none. */
const TOOLS_OFF = { toolNames: [], known: { hasTools: true, hasSameLead: true } } as const;
/** The request repeats a conversation with a different system prompt. */
const OWN_LEAD = { known: { hasTools: true, hasSameLead: false } } as const;

const SECTIONS = "\n1. Goal\n2. What was done\n3. What comes next\n";

describe("a client's own compaction", () => {
  test.each([
    [
      "with tools forbidden at length",
      later(`Answer with text only. Do NOT use any tools.\n${"All sections must be there. ".repeat(90)}`),
    ],
    [
      "where the conversation's tools are taken away",
      later("Provide a summary of our conversation above, with what is needed to continue.", TOOLS_OFF),
    ],
    [
      "by a system prompt of its own, with a tool at hand",
      later(`Your task is to write a full summary of the conversation so far.${SECTIONS}`, {
        ...OWN_LEAD,
        lead: "You are a helpful assistant who summarizes conversations so that work can continue.",
      }),
    ],
    [
      "by a system prompt of its own",
      later("Do it now.", {
        ...OWN_LEAD,
        toolNames: [],
        lead: `You summarise chat history. Your summary will be the only memory of the agent that resumes the work.${SECTIONS}${"Keep names. ".repeat(30)}`,
      }),
    ],
    [
      "with the transcript inside",
      alone(
        "You summarise conversations between a user and an agent.",
        `${TRANSCRIPT}Write a summary from which another agent can continue.`,
      ),
    ],
    [
      "with marks of speakers",
      alone(
        "Briefly summarise this part of a conversation about programming.",
        "# USER\nFix it.\n# ASSISTANT\nDone.",
      ),
    ],
    [
      "in Chinese",
      later(
        "你的任务是总结目前为止的对话历史，以便在新的上下文中继续工作。不要调用任何工具。\n1. 目标\n2. 状态\n3. 下一步",
        TOOLS_OFF,
      ),
    ],
    ["by what the client calls it", later("Go.", { purpose: "compact" })],
  ])("a client's own compaction is recognized %s", (_, facts) => {
    expect(detectRequestKind(facts)).toBe("compaction");
  });

  test("a compaction by Copilot CLI is recognized although the request keeps its tools", () => {
    const text =
      "Please create a detailed summary of the conversation so far. The history is being compacted so moving forward, all conversation history will be removed and you'll only have this summary to work from.";
    const messages: MessageInput[] = [...HISTORY, { role: "user", text }];
    const facts = { lead: "You are an agent.", toolNames: TOOLS };
    expect(detectRequestKind({ ...facts, messages })).toBe("compaction");
    expect(detectRequestKind({ ...facts, messages: [{ role: "user", text }] })).not.toBe("compaction");
  });

  test("a compaction is recognized after tool results in the same message", () => {
    const text = `CRITICAL: respond with text only. Do not call any tools.\n${"Say what was decided. ".repeat(120)}`;
    const result = { type: "tool-result", callId: "c", output: "ok" } as const;
    const messages: MessageInput[] = [...HISTORY, { role: "user", parts: [result, { type: "text", text }] }];
    expect(detectRequestKind({ lead: "You are an agent.", toolNames: TOOLS, messages })).toBe("compaction");
  });
});

const CLIENT_WORDS = `Your task is to write a full summary of the conversation so far, so that another model can resume the work without losing context. Do not call any tools.${SECTIONS}`;

describe("an ordinary turn", () => {
  test.each([
    ["with the words of a compaction", later(CLIENT_WORDS)],
    ["in a chat without tools", later(CLIENT_WORDS, { toolNames: [] })],
    [
      "in a chat whose own prompt speaks of summaries",
      later("Go on.", {
        toolNames: [],
        lead: `You keep a summary of the conversation, to continue without losing context.${SECTIONS}`,
        known: { hasTools: false, hasSameLead: true },
      }),
    ],
    [
      "with a prompt that speaks of summaries, in a conversation that nobody knows",
      later("Go on.", {
        toolNames: [],
        lead: `You keep a summary of the conversation, to continue without losing context.${SECTIONS}`,
      }),
    ],
    ["with the words of a title", later("Generate a title for this conversation. Output only the title.")],
    [
      "as a first message that quotes documentation",
      alone(
        "",
        `Please review this page.\n\nA title names the session; it is a short one. <summary>…</summary> Determine what it is for: json or true or false. Reply only with that. The <conversation> is summarized so that another agent can continue.\n${SECTIONS}`,
        { maxTokens: 100, isStreamed: false },
      ),
    ],
    [
      "as a first message that asks for a title generator",
      alone("", "Write a title generator for the chat: at most 5 words, and only the title."),
    ],
    [
      "with a long paste after a ban on tools",
      later(`Do not use any tools. ${"Read this log line. ".repeat(200)}`),
    ],
  ])("an ordinary turn is recognized %s", (_, facts) => {
    expect(detectRequestKind(facts)).toBe("main");
  });
});

describe("a person at work", () => {
  test.each([
    ["asks what was done", later("summarise what we did so far")],
    ["asks and goes on", later("Please summarize the conversation so far and then continue with step 3.")],
    [
      "asks for a file",
      later(`Write a handoff summary of this session to HANDOFF.md for the next agent, with${SECTIONS}`),
    ],
    ["asks in a chat without tools", later("Summarize our conversation so far", { toolNames: [] })],
    ["works on summaries", later("The summary of the chat history is empty in the context panel. Fix it.")],
    [
      "pastes a transcript",
      alone("You are a helpful assistant.", `${TRANSCRIPT}Summarise this talk for me.`),
    ],
    [
      "wants a title for something else",
      alone("You are a helpful assistant.", "Write a title for my post about cats, at most 60 characters."),
    ],
    ["says hello", alone("You are a helpful assistant.", "Hello")],
    ["wants no tools", later("Answer without using any tools: what is a monad?")],
  ])("a person who %s is not mistaken for a client", (_, facts) => {
    expect(detectRequestKind(facts)).toBe("main");
  });
});

describe("requests that a client makes for itself", () => {
  test.each([
    ["You are a title generator. You output only a title.", "Generate a title for this conversation:"],
    ["Write a short title (3-7 words) for the session. Return JSON.", "fix the login"],
    ["Give a description of the session in at most 4 words. Reply with only the description.", "hi"],
    ["", "Generate a concise 3-7 word title for this conversation, without punctuation."],
  ])("a request for a title is recognized: %s %s", (lead, text) => {
    expect(detectRequestKind(alone(lead, text))).toBe("title");
  });

  test("a request for a title after the whole conversation is recognized", () => {
    const text = "Generate a concise title for this conversation. Output only the title.";
    expect(detectRequestKind(later(text, TOOLS_OFF))).toBe("title");
    expect(detectRequestKind(later(text, { toolNames: [] }))).toBe("main");
  });

  test("a request for a title is recognized by a small output limit or next to a main conversation", () => {
    const text = "Generate a concise 3-7 word title for this conversation, without punctuation.";
    expect(detectRequestKind(alone("", text, { maxTokens: 32 }))).toBe("title");
    expect(detectRequestKind(alone("", text, { hasMainConversation: true }))).toBe("title");
    expect(detectRequestKind(later(text))).toBe("main");
  });

  test("probes are recognized by their size or words", () => {
    expect(detectRequestKind(alone("", "quota", { maxTokens: 1 }))).toBe("probe");
    expect(detectRequestKind(alone("", "hi", { maxTokens: 16 }))).toBe("probe");
    expect(
      detectRequestKind({
        lead: "You are an agent.",
        toolNames: TOOLS,
        messages: [{ role: "user", text: "Warmup" }],
      }),
    ).toBe("probe");
    expect(detectRequestKind(alone("", "hi", { maxTokens: 4_096 }))).toBe("main");
  });

  test("a question next to a main conversation is recognized", () => {
    const lead =
      "Determine whether the command is safe. Respond with exactly one of: safe, unsafe. Output only that.";
    expect(detectRequestKind(alone(lead, "rm -r build", { maxTokens: 64 }))).toBe("aside");
    expect(
      detectRequestKind(alone("Read the page.", "What is the version?", { hasMainConversation: true })),
    ).toBe("aside");
    expect(detectRequestKind(later("What is the version?", { hasMainConversation: true }))).toBe("main");
  });
});
