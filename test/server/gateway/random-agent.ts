import type { WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import type { TestGateway } from "../../support/gateway.ts";
import type { Reply } from "../../support/wire-server/behaviour.ts";
import { output } from "./limited.ts";

/** Seeded pseudo-random numbers. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** A random reply, with and without reasoning, text and calls. */
export function anyReply(random: (below: number) => number, index: number): Reply {
  const calls = random(5) === 0 ? 0 : 1 + random(3);
  return {
    ...(random(2) === 0 && { reasoning: `Thought ${index}: ${output(index, random(600))}` }),
    ...((calls === 0 || random(3) > 0) && { text: `Words of step ${index}.` }),
    ...(calls > 0 && {
      toolCalls: Array.from({ length: calls }, (_, at) => ({
        id: `toolu_${index}_${at}`,
        name: random(2) === 0 ? "read_file" : "run_command",
        input: { path: `src/${random(20)}.ts`, text: random(6) === 0 ? output(index, random(4_000)) : "" },
      })),
    }),
  };
}

type Block = Record<string, unknown>;
const MARK = { cache_control: { type: "ephemeral" } };
const PICTURE = Buffer.from("a picture, or something like it".repeat(20)).toString("base64");

/** A client of the Messages API with common habits: moving markers, reminders, images, transient tails. */
export class RandomAgent extends TestAgent {
  readonly #random: (below: number) => number;
  /** True if each request ends with a message that the next one does not have. */
  readonly hasTail: boolean;
  #turn = 0;

  constructor(gateway: TestGateway, seed: number) {
    super(gateway, "anthropic");
    this.#random = numbersFrom(seed);
    this.hasTail = seed % 3 === 0;
    const lead = `You are agent number ${seed}, and you work on a project step by step.`;
    this.fields.system = [{ type: "text", text: lead, ...MARK }];
  }

  /** Sends the next message or tool results, and stores the reply. */
  async step(): Promise<void> {
    const turn = this.#turn++;
    const calls = (this.elements.at(-1)?.content ?? []) as readonly Block[];
    const asked = Array.isArray(calls) ? calls.filter(({ type }) => type === "tool_use") : [];
    this.elements.push(asked.length > 0 ? this.#results(asked, turn) : this.#words(turn));
    if (asked.length === 0 && this.#random(5) === 0) this.elements.push(this.#words(turn + 10_000));
    const kept = [...this.elements];
    if (this.hasTail)
      this.elements.push({ role: "user", content: `[status] Turn ${turn} of many, all is well.` });
    this.elements = marked(this.elements);
    const answer = await this.send();
    if (answer.status !== 200 || !answer.isWhole)
      throw new Error(`${answer.status}: ${answer.text.slice(0, 2_000)}`);
    this.elements = [...kept, ...this.read(answer.text).elements];
  }

  #words(turn: number): WireObject {
    const text = `Request ${turn}: ${output(turn, this.#random(800))}`;
    return { role: "user", content: this.#random(2) === 0 ? text : [{ type: "text", text }] };
  }

  #results(asked: readonly Block[], turn: number): WireObject {
    const content: Block[] = asked.map(({ id }, at) => {
      const text = `${String(id)} put out: ${output(turn * 10 + at, this.#random(9_000))}`;
      const isBlocks = this.#random(3) === 0;
      const source = { type: "base64", media_type: "image/png", data: PICTURE };
      const blocks = [{ type: "text", text }, ...(this.#random(3) === 0 ? [{ type: "image", source }] : [])];
      return {
        type: "tool_result",
        tool_use_id: id,
        content: isBlocks ? blocks : text,
        ...(this.#random(8) === 0 && { is_error: true }),
      };
    });
    if (this.#random(4) === 0)
      content.push({ type: "text", text: `<reminder>Be careful in turn ${turn}.</reminder>` });
    return { role: "user", content };
  }
}

/** The messages with markers only on the last two that can carry one. */
function marked(elements: readonly WireObject[]): WireObject[] {
  const last = elements.length - 1;
  return elements.map((element, at) => (at === last || at === last - 2 ? withMark(element) : element));
}

function withMark(element: WireObject): WireObject {
  const { content } = element;
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Block[]);
  const end = blocks.at(-1);
  if (!end || end.type === "thinking") return element;
  return { ...element, content: [...blocks.slice(0, -1), { ...end, ...MARK }] };
}
