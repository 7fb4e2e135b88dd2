import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageInput, PartInput } from "../../../../src/kernel/index.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { type Asked, Registry, type Thread } from "./registry.ts";

const LEAD =
  "You are an agent that writes code. Read before you write, and say what you did when you are done.";
const TOOLS = ["read", "write"];
const user = (text: string): MessageInput => ({ role: "user", text });
const reply = (text: string): MessageInput => ({ role: "assistant", parts: [{ type: "text", text }] });

/** A request with an immediate reply. */
function turn(
  registry: Registry,
  messages: readonly MessageInput[],
  answer?: MessageInput,
  rest: Partial<Asked> = {},
) {
  const thread = registry.ask({ lead: LEAD, toolNames: TOOLS, kind: "main", ...rest, messages });
  registry.answer(thread, answer);
  return thread;
}

describe("without an id", () => {
  test("a conversation without an id goes on by its messages", () => {
    const registry = new Registry();
    const first = turn(registry, [user("a")], reply("A"));
    expect(turn(registry, [user("a"), reply("A"), user("b")], reply("B"))).toBe(first);
  });

  test("a repeated first message is a new conversation after a reply, and a retry before a reply", () => {
    const registry = new Registry();
    const failed = turn(registry, [user("a")]);
    const retried = turn(registry, [user("a")], reply("A"));
    expect(retried).toBe(failed);
    expect(turn(registry, [user("a")], reply("A"))).not.toBe(retried);
  });

  test("two equal first requests at the same time are two conversations", () => {
    const registry = new Registry();
    const asked = { lead: LEAD, toolNames: TOOLS, kind: "main", messages: [user("a")] } as const;
    expect(registry.ask(asked)).not.toBe(registry.ask(asked));
  });

  test("a turn that is repeated or edited stays in its thread", () => {
    const registry = new Registry();
    const first = turn(registry, [user("a")], reply("A"));
    const second = [user("a"), reply("A"), user("b")];
    turn(registry, second, reply("B"));
    expect(turn(registry, second, reply("B again"))).toBe(first);
    expect(turn(registry, [user("a"), reply("A"), user("c")], reply("C"))).toBe(first);
  });

  test("a longer conversation that was never seen does not join another with the same beginning", () => {
    const registry = new Registry();
    const first = turn(registry, [user("hi")], reply("Hello!"));
    turn(registry, [user("hi"), reply("Hello!"), user("b")], reply("B"));
    const other = [user("hi"), reply("Hello!"), user("x"), reply("X"), user("y")];
    expect(turn(registry, other, reply("Y"))).not.toBe(first);
  });

  test("context messages that every conversation begins with do not join conversations", () => {
    const registry = new Registry();
    const context = [user("You work in a folder."), user("These are the rules.")];
    const first = turn(registry, [...context, user("a")], reply("A"));
    expect(turn(registry, [...context, user("b")], reply("B"))).not.toBe(first);
  });

  test("a conversation stays in its thread when its client kept half of a reply", () => {
    const registry = new Registry();
    const first = turn(registry, [user("a")]);
    turn(registry, [user("a")], reply("whole"));
    const kept = [user("a"), reply("wh"), reply("whole"), user("b")];
    expect(turn(registry, kept, reply("B"))).toBe(first);
  });

  test("a conversation stays in its thread whatever the client makes of a broken reply", () => {
    const resumed = new Registry();
    const broken = turn(resumed, [user("a")]);
    expect(turn(resumed, [user("a"), reply("Half [interrupted]"), user("go on")], reply("B"))).toBe(broken);
    const glued = new Registry();
    const first = turn(glued, [user("a")]);
    turn(glued, [user("a")], reply("Whole"));
    expect(turn(glued, [user("a"), reply("Half Whole"), user("b")], reply("B"))).toBe(first);
    const forgotten = new Registry();
    const cut = turn(forgotten, [user("a")]);
    turn(forgotten, [user("a"), reply("Ha"), user("The connection dropped. Go on.")], reply("Half Whole"));
    expect(turn(forgotten, [user("a"), reply("Half Whole"), user("b")], reply("B"))).toBe(cut);
  });

  test("a client that rewrites paths in calls stays in its thread", () => {
    const call = (path: string): MessageInput => ({
      role: "assistant",
      parts: [{ type: "tool-call", callId: "c", name: "read", input: { path } }],
    });
    const result: MessageInput = {
      role: "tool",
      parts: [{ type: "tool-result", callId: "c", output: "ok" }],
    };
    const registry = new Registry();
    const first = turn(registry, [user("a")], call("notes.txt"));
    expect(turn(registry, [user("a"), call("/repo/notes.txt"), result], reply("A"))).toBe(first);
  });

  test("a conversation whose beginning was summarized is recognized by the rest or by the summary", () => {
    const registry = new Registry();
    const said = ["a", "b", "c", "d"].flatMap((text) => [user(text), reply(text.toUpperCase())]);
    const first = turn(registry, said.slice(0, 1), said[1]);
    for (const length of [3, 5, 7]) turn(registry, said.slice(0, length), said[length]);
    const kept = [user("Before, other things were said."), ...said.slice(3), user("e")];
    expect(turn(registry, kept, reply("E"))).toBe(first);
    const summary = "The person asked for letters, and they were written in capitals.";
    const asked = [...kept, reply("E"), user("Summarise.")];
    const compaction = turn(registry, asked, reply(summary), { kind: "compaction", toolNames: [] });
    expect(compaction.kind).toBe("compaction");
    expect(turn(registry, [user(`Summary: ${summary}`), user("f")], reply("F"))).toBe(first);
  });
});

describe("under an id", () => {
  const named = { explicit: "s1" };

  test("two session ids never share a thread, even with equal messages", () => {
    const registry = new Registry();
    const first = turn(registry, [user("a")], reply("A"), named);
    const other = turn(registry, [user("a"), reply("A"), user("b")], reply("B"), { explicit: "s2" });
    expect(other).not.toBe(first);
    expect(turn(registry, [user("a"), reply("A"), user("b")], reply("B"))).not.toBe(first);
  });

  test("a session's main thread goes on even if its first message was edited", () => {
    const registry = new Registry();
    const first = turn(registry, [user("a")], reply("A"), named);
    expect(turn(registry, [user("z")], reply("Z"), named)).toBe(first);
  });

  test("titles and sub-agents of a session have separate threads", () => {
    const registry = new Registry();
    const title = turn(registry, [user("Title?")], reply("T"), {
      ...named,
      kind: "title",
      lead: "You write titles.",
      toolNames: [],
    });
    const main = turn(registry, [user("a")], reply("A"), named);
    const agent = {
      ...named,
      lead: "You search files and never change anything at all.",
      toolNames: ["grep"],
    };
    const sub = turn(registry, [user("look")], reply("found"), agent);
    const again = turn(registry, [user("look"), reply("found"), user("more")], reply("x"), agent);
    const next = turn(registry, [user("a"), reply("A"), user("b")], reply("B"), named);
    const other = turn(registry, [user("look elsewhere")], reply("y"), agent);
    expect([title.kind, main.kind, sub.kind, other.kind]).toEqual(["title", "main", "agent", "agent"]);
    expect(again).toBe(sub);
    expect(next).toBe(main);
    expect(other).not.toBe(sub);
  });

  test("sub-agents with ids of their own have separate threads, however similar they are", () => {
    const registry = new Registry();
    const main = turn(registry, [user("a")], reply("A"), named);
    const forks = ["x", "y"].map((agent) =>
      turn(registry, [user("a"), reply("A"), user("go")], reply("G"), { ...named, agent }),
    );
    expect(new Set([main, ...forks]).size).toBe(3);
    const next = [user("a"), reply("A"), user("go"), reply("G"), user("on")];
    expect(turn(registry, next, reply("H"), { ...named, agent: "y" })).toBe(forks[1]);
  });

  test("a second agent of the same kind is a child while the first one is answering", () => {
    const registry = new Registry();
    const asked = { lead: LEAD, toolNames: TOOLS, kind: "main", ...named } as const;
    const main = registry.ask({ ...asked, messages: [user("a")] });
    expect(registry.ask({ ...asked, messages: [user("b")] })).toMatchObject({ kind: "agent" });
    registry.answer(main, reply("A"));
    expect(turn(registry, [user("a"), reply("A"), user("c")], reply("C"), named)).toBe(main);
  });

  test("an unrecognized question before the first turn does not become the main thread", () => {
    const registry = new Registry();
    const question = turn(registry, [user("what?")], reply("that"), {
      ...named,
      lead: "Say.",
      toolNames: [],
    });
    const main = turn(registry, [user("a")], reply("A"), named);
    expect(main).not.toBe(question);
    expect(main.kind).toBe("main");
  });
});

/** Insignificant changes a client may make to an earlier message. */
const DISGUISES: readonly ((message: MessageInput) => MessageInput)[] = [
  (message) => message,
  ({ role, text, parts = [] }) => ({ role, parts: text === undefined ? parts : [{ type: "text", text }] }),
  ({ role, text, parts = [] }) => ({
    role,
    parts: [...(text === undefined ? [] : [{ type: "text", text: `${text}\r\n` } as const]), ...parts],
  }),
  ({ role, text, parts }) => ({
    role,
    ...(text !== undefined && { text }),
    ...(parts && { parts: parts.map((part, index) => withId(part, `new-${index}`)) }),
  }),
  ({ role, text, parts = [] }) => ({
    role,
    ...(text !== undefined && { text }),
    parts: [{ type: "reasoning", text: "hm" }, ...parts, { type: "text", text: "" }],
  }),
];

function withId(part: PartInput, callId: string): PartInput {
  return part.type === "tool-call" || part.type === "tool-result" ? { ...part, callId } : part;
}

/** One step of a conversation: the new message, the reply, and faults in between. */
const step = fc.record({
  word: fc.constantFrom("a", "b", "c"),
  answer: fc.constantFrom("ok", "done", "hm"),
  disguise: fc.nat({ max: DISGUISES.length - 1 }),
  hasTail: fc.boolean(),
  retries: fc.nat({ max: 2 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A client that keeps its conversation and sends all of it with every request. */
class Client {
  readonly threads = new Set<Thread>();
  readonly #registry: Registry;
  readonly #name: string;
  #said: MessageInput[] = [];
  #count = 0;

  constructor(registry: Registry, name: string) {
    this.#registry = registry;
    this.#name = name;
  }

  take({ word, answer, disguise, hasTail, retries }: Step): void {
    const name = this.#count === 0 ? this.#name : "";
    this.#said.push(user(`${name}${word}${this.#count}`));
    const change = DISGUISES[disguise] as (message: MessageInput) => MessageInput;
    const messages = [...this.#said.map(change), ...(hasTail ? [user(`<now>${this.#count}</now>`)] : [])];
    const answered: MessageInput = {
      role: "assistant",
      parts: [
        { type: "text", text: answer },
        { type: "tool-call", callId: `c${this.#count}`, name: "read", input: { word } },
      ],
    };
    for (let attempt = 0; attempt <= retries; attempt++)
      this.threads.add(turn(this.#registry, messages, attempt === retries ? answered : undefined));
    this.#said.push(answered);
    this.#count++;
  }
}

describe("whatever clients do", () => {
  sizedTest("a growing conversation stays in one thread, whatever clients do", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const client = new Client(new Registry(), "");
        for (const one of steps) client.take(one);
        expect(client.threads.size).toBe(1);
      }),
      { numRuns: proofRounds(300) },
    );
  });

  sizedTest("two conversations with different beginnings stay apart, in whatever order they speak", () => {
    const moves = fc.array(fc.tuple(fc.boolean(), step), { maxLength: 20 });
    fc.assert(
      fc.property(moves, (steps) => {
        const registry = new Registry();
        const clients = [new Client(registry, "one "), new Client(registry, "other ")] as const;
        for (const [isFirst, one] of steps) clients[isFirst ? 0 : 1].take(one);
        const [first, second] = clients;
        expect(first.threads.size).toBeLessThanOrEqual(1);
        expect([...first.threads].filter((thread) => second.threads.has(thread))).toEqual([]);
      }),
      { numRuns: proofRounds(300) },
    );
  });

  sizedTest("conversations that begin with the same words have one thread each", () => {
    const order = fc.array(fc.tuple(fc.nat({ max: 3 }), step), { maxLength: 30 });
    fc.assert(
      fc.property(order, (moves) => {
        const registry = new Registry();
        const clients = Array.from({ length: 4 }, () => new Client(registry, "same "));
        const steps = moves.map(([who, one]) => [who, { ...one, retries: 0 }] as const);
        for (const [who, one] of steps) clients[who]?.take(one);
        const used = new Set(steps.map(([who]) => who));
        expect(registry.threads).toHaveLength(used.size);
      }),
      { numRuns: proofRounds(300) },
    );
  });
});
