import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { testFolder } from "../../../support/folder.ts";
import { startGateway } from "../../../support/gateway.ts";
import { isThinking } from "../../../support/provider-rules/bound-thinking.ts";
import { withoutMarkers } from "../../../support/provider-rules/judgement.ts";
import { serveGateway } from "../../../support/served-gateway.ts";
import { type Judged, type StrictUpstream, startStrictUpstream } from "../../../support/strict-upstream.ts";
import type { Heard } from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";
import { output } from "../limited.ts";

export const MODELS = ["claude-opus-5-5", "claude-fable-5-2", "claude-sonnet-5-5", "claude-opus-4-8"];
const LEAD = "You are a coding agent that works on a project, and you think before you act.";
const TOOLS = ["read_file", "run_command", "search", "write_file"];
const RECALL = "longhaul_recall";

/** Options of a life. */
export interface LifeOptions {
  /** Tokens of every model. */
  readonly window: number;
  /** Other settings of the gateway. */
  readonly config?: object;
  /** True if each gateway is a process of its own, which can be killed. */
  readonly isServed?: boolean;
}

type Block = Record<string, unknown>;

/** The provider's part from now on. */
interface Script {
  /** True if its next reply calls a tool of the gateway. */
  recalls: boolean;
  /** Tokens of a request that it accepts. */
  window: number;
}

/** A gateway at which a life goes on, in this process or in its own. */
interface Place {
  readonly url: string;
  /** Ends it: a process of its own is killed, another is closed. */
  end(): Promise<void>;
}

/** One conversation of a client: a line of work, or a fork of it. */
export interface Branch {
  readonly name: string;
  readonly agent: TestAgent;
  turn: number;
  /** True if the client or a person has changed earlier messages, so that the next request may begin otherwise. */
  isChanged: boolean;
  /** The parts of its last request in order: head, then each message. */
  sent: readonly string[];
  /** Thinking that was once left out. */
  readonly leftOut: Set<string>;
  /** Edits in its log when the last request was sent. */
  edits: number;
}

/** Figures of a life, for reports. */
export interface Account {
  readonly requests: number;
  /** Requests that began otherwise than the one before them. */
  readonly seams: number;
  /** Thinking that the client held at all requests, and the part that reached the model. */
  readonly sent: number;
  readonly kept: number;
}

/**
 * Conversations of a client with thinking, through gateways over one store, to a provider that binds thinking. Every
 * request is checked as it arrives; a broken rule ends the life with an error that names it.
 */
export class Life {
  readonly #upstream: StrictUpstream;
  readonly #options: LifeOptions;
  readonly #store = testFolder();
  readonly #script: Script;
  #places: Place[] = [];
  #at = 0;
  readonly branches: Branch[] = [];
  #current = 0;
  #requests = 0;
  #seams = 0;
  #sent = 0;
  #kept = 0;

  private constructor(options: LifeOptions, upstream: StrictUpstream, script: Script) {
    this.#options = options;
    this.#upstream = upstream;
    this.#script = script;
  }

  static async begin(options: LifeOptions): Promise<Life> {
    const script: Script = { recalls: false, window: options.window };
    const reply = (heard: Heard, index: number) => replyOf(heard, index, script);
    const upstream = await startStrictUpstream({ window: () => script.window, reply });
    const life = new Life(options, upstream, script);
    await life.#open(0);
    life.addBranch("main");
    return life;
  }

  get branch(): Branch {
    return this.branches[this.#current] as Branch;
  }

  get account(): Account {
    return { requests: this.#requests, seams: this.#seams, sent: this.#sent, kept: this.#kept };
  }

  /** The bodies of all conversation requests, as the provider got them. */
  get bodies(): readonly Buffer[] {
    return this.#upstream.judged.filter(({ heard }) => isConversation(heard)).map(({ heard }) => heard.body);
  }

  /** Begins a conversation; without a name of its own it is told apart by its messages only. */
  addBranch(name: string, from?: Branch): Branch {
    const agent = new TestAgent(this.#place);
    Object.assign(agent.fields, {
      model: MODELS[0],
      system: LEAD,
      thinking: { type: "adaptive" },
      tools: TOOLS.slice(0, 2).map((tool) => ({ name: tool, input_schema: { type: "object" } })),
      ...from?.agent.fields,
    });
    agent.headers["x-longhaul-session"] = name;
    agent.elements = [...(from?.agent.elements ?? [])];
    const branch = { name, agent, turn: from?.turn ?? 0, isChanged: true, sent: [], edits: 0 };
    this.branches.push({ ...branch, leftOut: new Set() });
    this.#current = this.branches.length - 1;
    return this.branch;
  }

  /** Goes on with another conversation. */
  choose(number: number): void {
    this.#current = number % this.branches.length;
  }

  /** Takes one step: hands over results of about so many characters, or says the next words. */
  async step(outputChars: number, words?: string): Promise<void> {
    const { branch } = this;
    const turn = branch.turn++;
    const { agent } = branch;
    const calls = openCalls(agent.elements);
    if (calls.length === 0)
      agent.elements.push(...agent.words(words ?? `Request ${turn}: go on with part ${turn}.`));
    else {
      const results = calls.map((_, at) => `[${turn}.${at}] ${output(turn * 10 + at, outputChars)}`);
      agent.elements.push(...agent.results(calls, results));
      if (words !== undefined) addText(agent.elements, words);
    }
    await this.#send(branch);
  }

  /** Brings the conversation to a point at which the model has answered with words. */
  async finishTurn(): Promise<void> {
    while (openCalls(this.branch.agent.elements).length > 0) await this.step(200);
  }

  /** The model's next reply looks something up by itself, if the gateway offers it the tool. */
  recall(): void {
    this.#script.recalls = true;
  }

  /** The provider accepts less than its catalogue says from now on. */
  narrow(): void {
    this.#script.window = Math.floor(0.8 * this.#options.window);
  }

  async countTokens(): Promise<void> {
    const { agent } = this.branch;
    agent.gateway = this.#place;
    const from = this.#upstream.judged.length;
    const { stream: _, max_tokens: __, ...body } = agent.body();
    const answer = await agent.send({ path: "/v1/messages/count_tokens", body });
    this.#checkRefusals(from);
    if (answer.status !== 200) throw new Error(`failed: count_tokens ${answer.status} ${answer.text}`);
  }

  /** Ends the gateway and opens another over the same store. */
  async restart(): Promise<void> {
    await this.#places[this.#at]?.end();
    await this.#open(this.#at);
  }

  /** The other of two gateways over the store takes the next requests. */
  async changeGateway(): Promise<void> {
    this.#at = 1 - this.#at;
    if (!this.#places[this.#at]) await this.#open(this.#at);
  }

  /** Asks the API of the gateway; undefined where it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary fields of answers.
  async api(method: "GET" | "POST", path: string, body?: object): Promise<any> {
    const response = await fetch(`${this.#place.url}/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.ok ? response.json() : undefined;
  }

  /** Carries out what needs a preview first; false where it is refused. */
  async confirm(path: string, body: object = {}): Promise<boolean> {
    const preview = await this.api("POST", path, body);
    if (!preview) return false;
    return (await this.api("POST", path, { ...body, confirm: preview.confirm })) !== undefined;
  }

  /** The id of the stored conversation. */
  async sessionOf({ name }: Branch): Promise<string | undefined> {
    const { sessions } = (await this.api("GET", "/sessions?limit=100")) ?? { sessions: [] };
    return (sessions as readonly { readonly id: string }[]).find(({ id }) => id.endsWith(name))?.id;
  }

  async end(): Promise<void> {
    for (const place of this.#places) await place?.end();
    await this.#upstream.close();
  }

  get #place(): Place {
    return this.#places[this.#at] as Place;
  }

  async #open(at: number): Promise<void> {
    const { window, config, isServed } = this.#options;
    const models = Object.fromEntries(MODELS.map((model) => [model, { window, maxOutput: 2_000 }]));
    const settings = { models, log: { level: "error" }, ...config };
    if (isServed) {
      const file = join(testFolder(), "longhaul.json");
      writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
      const served = await serveGateway(this.#upstream.url, ["--config", file], this.#store);
      this.#places[at] = { url: served.url, end: () => served.kill() };
    } else {
      const opened = await startGateway({
        upstream: this.#upstream.url,
        path: this.#store,
        config: { recall: {}, ...settings },
      });
      this.#places[at] = { url: opened.url, end: () => opened.close() };
    }
  }

  async #send(branch: Branch): Promise<void> {
    const { agent } = branch;
    agent.gateway = this.#place;
    const from = this.#upstream.judged.length;
    const answer = await agent.send();
    this.#checkRefusals(from);
    if (answer.status !== 200 || !answer.isWhole)
      throw new Error(`failed: the client got ${answer.status} ${answer.text.slice(0, 300)}`);
    for (const judged of this.#upstream.judged.slice(from))
      if (isConversation(judged.heard)) await this.#check(branch, judged);
    agent.elements.push(...agent.read(answer.text).elements);
  }

  #checkRefusals(from: number): void {
    for (const { refusal } of this.#upstream.judged.slice(from))
      if (refusal) throw new Error(`refused: ${refusal.rule}: ${JSON.stringify(refusal.body)}`);
  }

  async #check(branch: Branch, { heard, sent, alive }: Judged): Promise<void> {
    const request = partsOf(heard.json);
    const changed = branch.sent.findIndex((part, at) => part !== request[at]);
    if (changed !== -1) {
      this.#seams++;
      const edits = await this.#countEdits(branch);
      if (!branch.isChanged && edits === branch.edits)
        throw new Error(
          `extension: nothing was edited, and part ${changed} of ${branch.sent.length} changed from ${around(branch.sent[changed], request[changed])} to ${around(request[changed], branch.sent[changed])}`,
        );
      branch.edits = edits;
    }
    const back = sent.find((seal) => branch.leftOut.has(seal));
    if (back !== undefined)
      throw new Error(`back: thinking ${back.slice(0, 12)} came back after it was left out`);
    for (const seal of thinkingIn(branch.agent.elements)) if (!sent.includes(seal)) branch.leftOut.add(seal);
    branch.sent = request;
    branch.isChanged = false;
    this.#requests++;
    this.#sent += thinkingIn(branch.agent.elements).length;
    this.#kept += alive.length;
  }

  async #countEdits(branch: Branch): Promise<number> {
    const id = await this.sessionOf(branch);
    if (id === undefined) return 0;
    const { overlays } = await this.api("GET", `/sessions/${encodeURIComponent(id)}/receipts?limit=1000`);
    return overlays.length;
  }
}

/** Signatures of the thinking that a client holds. */
function thinkingIn(elements: readonly WireObject[]): readonly string[] {
  return elements.flatMap(({ content }) =>
    Array.isArray(content)
      ? (content as readonly Block[]).filter(isThinking).map(({ signature }) => String(signature))
      : [],
  );
}

/** The messages without thinking, as a careful client sends them after it has changed earlier ones. */
export function stripped(elements: readonly WireObject[]): WireObject[] {
  return elements.map((element) =>
    Array.isArray(element.content)
      ? { ...element, content: (element.content as readonly Block[]).filter((block) => !isThinking(block)) }
      : element,
  );
}

/** The calls that wait for their results. */
export function openCalls(elements: readonly WireObject[]): readonly { id: string; name: string }[] {
  const content = elements.at(-1)?.content;
  const blocks = Array.isArray(content) ? (content as readonly Block[]) : [];
  return blocks.filter(({ type }) => type === "tool_use") as unknown as { id: string; name: string }[];
}

function addText(elements: WireObject[], text: string): void {
  const last = elements.at(-1) as WireObject;
  elements[elements.length - 1] = {
    ...last,
    content: [...(last.content as readonly Block[]), { type: "text", text }],
  };
}

/** A request of the client's conversation, not one that the gateway makes by itself. */
function isConversation({ url, body }: Heard): boolean {
  return !url.includes("count_tokens") && body.includes(LEAD);
}

/** System prompt, tools and each message as the provider gets them, markers of the cache apart. */
function partsOf({ system, tools, messages }: Record<string, unknown>): readonly string[] {
  return [
    withoutMarkers(system),
    withoutMarkers(tools),
    ...(messages as readonly unknown[]).map((message) => withoutMarkers(message)),
  ];
}

/** The place at which a text differs from another one. */
function around(text = "nothing", other = ""): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return JSON.stringify(text.slice(Math.max(0, at - 60), at + 120));
}

/** A reply with thinking: mostly calls, and at times words; the same number gives the same reply. */
function replyOf({ json }: Heard, index: number, script: Script): Reply {
  const names = ((json.tools ?? []) as readonly Block[]).map(({ name }) => name);
  const reasoning = `Thought ${index}: ${output(index, 150)}`;
  if (script.recalls && names.includes(RECALL)) {
    script.recalls = false;
    const input = { query: `what was request ${index % 7} about` };
    return { reasoning, toolCalls: [{ id: `toolu_${index}_r`, name: RECALL, input }] };
  }
  if (index % 6 === 5) return { reasoning, text: `Part ${index} is done: ${output(index, 120)}` };
  const count = index % 5 === 3 ? 2 : 1;
  return {
    reasoning,
    ...(index % 4 === 0 && { text: `I look at file ${index}.` }),
    toolCalls: Array.from({ length: count }, (_, at) => ({
      id: `toolu_${index}_${at}`,
      name: TOOLS[(index + at) % 2] as string,
      input: { path: `src/part${index % 23}/file${at}.ts` },
    })),
  };
}
