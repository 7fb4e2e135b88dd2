import type { WireObject } from "../../../../src/wire/wire.ts";
import type { Heard } from "../../../support/upstream.ts";

/** The betas of a client that uses everything at once. */
export const BETAS = [
  "interleaved-thinking-2025-05-14",
  "advanced-tool-use-2025-11-20",
  "code-execution-2025-08-25",
  "mcp-client-2025-11-20",
  "mid-conversation-system-2026-05-01",
  "mid-conversation-tool-changes-2026-07-01",
  "task-budgets-2026-03-13",
  "cache-diagnosis-2026-04-07",
  "extended-cache-ttl-2025-04-11",
  "prompt-caching-scope-2026-01-05",
  "thinking-binding-controls-2026-08-01",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "structured-outputs-2025-11-13",
  "context-1m-2025-08-07",
  "files-api-2025-04-14",
];

type Block = WireObject & { readonly type?: string };
interface Placed {
  readonly message: number;
  readonly block: Block;
}

/** Checks the rules of each beta as a strict provider would, and collects the names of broken rules. */
export class BetaRules {
  readonly violations: string[] = [];
  /** Thinking that was given out, by signature, and results that were sent for programs, by call. */
  readonly thinking = new Map<unknown, string>();
  readonly programResults = new Map<unknown, string>();
  lastId: string | undefined;
  /** The client's own request, to compare with. */
  own: WireObject = {};

  check({ json, header }: Heard, turn: number): void {
    const messages = json.messages as readonly WireObject[];
    const blocks = messages.flatMap(({ content }, message): readonly Placed[] =>
      typeof content === "string"
        ? [{ message, block: { type: "text", text: content } }]
        : (content as readonly Block[]).map((block) => ({ message, block })),
    );
    const fail = (beta: number | string, words: string) =>
      this.violations.push(`turn ${turn}: ${typeof beta === "number" ? BETAS[beta] : beta}: ${words}`);
    if (header("anthropic-beta") !== BETAS.join(",")) fail(14, "the header changed");
    this.#checkThinking(blocks, fail);
    this.#checkTools(json.tools, messages, blocks, fail);
    this.#checkPrograms(messages, blocks, fail);
    this.#checkPairs(messages, fail);
    checkServerPairs(blocks, fail);
    checkSystem(messages, fail);
    checkMarkers(json, blocks, fail);
    this.#checkFields(json, messages, fail);
    for (const { block } of blocks)
      if (block.type === "document" && JSON.stringify(block.source) !== '{"type":"file","file_id":"file_1"}')
        fail(15, "a file changed");
  }

  #checkThinking(blocks: readonly Placed[], fail: Fail): void {
    for (const { block } of blocks)
      if (block.type === "thinking" && this.thinking.get(block.signature) !== block.thinking)
        fail(0, "thinking changed");
  }

  /** References name deferred tools, and a deferred tool is called only after it was made known. */
  #checkTools(
    tools: readonly WireObject[],
    messages: readonly WireObject[],
    blocks: readonly Placed[],
    fail: Fail,
  ) {
    const deferred = new Set(tools.filter((tool) => tool.defer_loading === true).map(({ name }) => name));
    if (deferred.size === tools.length) fail(1, "every tool is deferred");
    const known = new Set<unknown>();
    const refer = (value: unknown, beta: number) => {
      const { name, tool_name = name } = Object(value);
      if (!deferred.has(tool_name)) fail(beta, `a reference to ${tool_name}, which is not declared`);
      known.add(tool_name);
    };
    for (const { message, block } of blocks) {
      if (block.type === "tool_addition") refer(block.tool, 5);
      if (block.type === "tool_removal") known.delete(Object(block.tool).name);
      if (block.type === "tool_search_tool_result")
        for (const one of Object(block.content).tool_references) refer(one, 1);
      if (block.type === "tool_result" && Array.isArray(block.content))
        for (const one of block.content) if (one.type === "tool_reference") refer(one, 1);
      const isUnknown = block.type === "tool_use" && deferred.has(block.name) && !known.has(block.name);
      if (isUnknown && messages[message]?.role === "assistant")
        fail(1, `${block.name} called before it was known`);
    }
  }

  /** Results for a program come alone, unchanged, and after the program that asked for them. */
  #checkPrograms(messages: readonly WireObject[], blocks: readonly Placed[], fail: Fail): void {
    const programs = new Set(
      blocks.flatMap(({ block }) => (block.type === "server_tool_use" ? [block.id] : [])),
    );
    const calls = new Map<unknown, unknown>();
    for (const { message, block } of blocks) {
      const caller = Object(block.caller);
      if (block.type === "tool_use" && caller.type === "code_execution_20250825") {
        if (!programs.has(caller.tool_id)) fail(2, "a call whose program is missing");
        calls.set(block.id, caller.tool_id);
      }
      if (block.type !== "tool_result" || !calls.has(block.tool_use_id)) continue;
      if (JSON.stringify(block.content) !== this.programResults.get(block.tool_use_id))
        fail(2, "a result changed");
      const { content } = messages[message] as WireObject;
      const isAlone = (content as readonly Block[]).every(({ type }) => type === "tool_result");
      if (!isAlone) fail(2, "a result for a program comes with other content");
      if (messages[message + 1]?.role === "system") fail(2, "a message between a program and its result");
    }
  }

  /** Every call is answered in the next message, and every result follows its call. */
  #checkPairs(messages: readonly WireObject[], fail: Fail): void {
    const turns = messages.filter(({ role }) => role !== "system");
    const ids = (message: WireObject | undefined, type: string, field: string) =>
      (Array.isArray(message?.content) ? (message.content as readonly Block[]) : []).flatMap((block) =>
        block.type === type ? [block[field]] : [],
      );
    for (const [index, message] of turns.entries()) {
      const results = new Set(ids(turns[index + 1], "tool_result", "tool_use_id"));
      for (const id of ids(message, "tool_use", "id"))
        if (!results.has(id)) fail("pairs", `no result for ${id}`);
      const calls = new Set(ids(turns[index - 1], "tool_use", "id"));
      for (const id of ids(message, "tool_result", "tool_use_id"))
        if (!calls.has(id)) fail("pairs", `no call for ${id}`);
    }
  }

  #checkFields(json: WireObject, messages: readonly WireObject[], fail: Fail): void {
    const { own } = this;
    const same = (name: string, beta: number) => {
      if (JSON.stringify(json[name]) !== JSON.stringify(own[name])) fail(beta, `${name} changed`);
    };
    same("thinking", 10);
    same("context_management", 11);
    same("container", 2);
    const { task_budget: budget, ...output } = Object(json.output_config);
    const { task_budget: ownBudget, ...ownOutput } = Object(own.output_config);
    if (JSON.stringify(output) !== JSON.stringify(ownOutput)) fail(12, "output_config changed");
    const { total, remaining = total } = Object(budget);
    if (total !== ownBudget.total || !(remaining >= 0) || remaining > total) fail(6, "a wrong budget");
    if (countWork(messages) < countWork(own.messages as readonly WireObject[]) / 2 && remaining === total)
      fail(6, "work of the running turn was cut, and the budget begins again");
    const previous = Object(json.diagnostics).previous_message_id;
    if (previous !== (this.lastId ?? null)) fail(7, `compares with ${previous}, not with ${this.lastId}`);
    const tools = json.tools as readonly WireObject[];
    if (!tools.some(({ strict }) => strict === true)) fail(13, "strict is lost");
  }
}

type Fail = (beta: number | string, words: string) => void;

/** Bytes after the newest message that is not only results. */
function countWork(messages: readonly WireObject[]): number {
  const isQuestion = ({ role, content }: WireObject) =>
    role === "user" &&
    (typeof content === "string" || (content as readonly Block[]).some(({ type }) => type === "text"));
  return JSON.stringify(messages.slice(messages.findLastIndex(isQuestion) + 1)).length;
}

/** Results of the provider's tools and of its MCP connections follow their calls. */
function checkServerPairs(blocks: readonly Placed[], fail: Fail): void {
  const called = new Set<unknown>();
  for (const { block } of blocks) {
    if (/^(?:server|mcp)_tool_use$/.test(block.type ?? "")) called.add(block.id);
    const isAnswer = /^\w+_tool_result$/.test(block.type ?? "");
    if (isAnswer && !called.has(block.tool_use_id)) fail(block.type === "mcp_tool_result" ? 3 : 2, "no call");
  }
}

/** A system message follows a message of the user, and a reply follows it. */
function checkSystem(messages: readonly WireObject[], fail: Fail): void {
  for (const [index, { role }] of messages.entries()) {
    if (role !== "system") continue;
    const isPlaced = messages[index - 1]?.role === "user" || messages[index - 1]?.role === "system";
    const after = messages[index + 1]?.role;
    if (!isPlaced || after === "user")
      fail(4, `a system message between ${messages[index - 1]?.role} and ${after}`);
  }
}

/** At most four markers; longer times come first; the scope of the prompt is kept. */
function checkMarkers(json: WireObject, blocks: readonly Placed[], fail: Fail): void {
  const lead = [...(json.tools as readonly WireObject[]), ...(json.system as readonly WireObject[])];
  const marks = [...lead, ...blocks.map(({ block }) => block)].flatMap(
    ({ cache_control }) => cache_control ?? [],
  );
  if (marks.length > 4) fail(8, `${marks.length} markers`);
  const times = marks.map((mark) => Object(mark).ttl ?? "5m");
  if (times.lastIndexOf("1h") > times.indexOf("5m") && times.includes("5m"))
    fail(8, "5 minutes before an hour");
  if (!marks.some((mark) => Object(mark).scope === "global")) fail(9, "the scope is lost");
}
