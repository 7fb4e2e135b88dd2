import { expect } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { ask, startGateway } from "../../../support/gateway.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { startUpstream } from "../../../support/upstream.ts";
import { BETAS, BetaRules } from "./anthropic-betas.ts";

const WINDOW = 24_000;
const REFERENCE = (tool_name: string) => ({ type: "tool_reference", tool_name });
const CODE = "code_execution_20250825";

const tools = [
  { type: CODE, name: "code_execution" },
  { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
  { name: "run_command", input_schema: { type: "object" }, strict: true },
  { name: "find_tools", input_schema: { type: "object" } },
  { name: "query", input_schema: { type: "object" }, allowed_callers: [CODE] },
  ...["deploy", "ticket", "chart", "calendar"].map((name) => ({
    name,
    input_schema: { type: "object" },
    defer_loading: true,
  })),
];
const system = [
  {
    type: "text",
    text: "You are an agent.",
    cache_control: { type: "ephemeral", ttl: "1h", scope: "global" },
  },
];

function lines(subject: string, count: number): string {
  return Array.from(
    { length: count },
    (_, at) => `${subject} line ${at} has value ${(at * 7919) % 10_007}`,
  ).join("\n");
}

/** One step of a reply: its blocks, and the results for its calls. */
interface Step {
  readonly blocks: readonly WireObject[];
  readonly results?: readonly WireObject[];
}

function result(tool_use_id: string, content: unknown): WireObject {
  return { type: "tool_result", tool_use_id, content };
}

/** The steps of the model in one turn; each kind of turn uses other betas. */
function planTurn(turn: number): readonly Step[] {
  const id = (name: string) => `${name}_${turn}`;
  const thinking = { type: "thinking", thinking: `Thought ${turn}.`, signature: id("sig") };
  const end: Step = { blocks: [{ type: "text", text: `Turn ${turn} is done.` }] };
  const use = (name: string, more: object = {}) => ({
    type: "tool_use",
    id: id(name),
    name,
    input: { turn },
    ...more,
  });
  switch (turn % 6) {
    case 0:
      return [
        {
          blocks: [thinking, use("find_tools")],
          results: [result(id("find_tools"), [REFERENCE("deploy"), REFERENCE("chart")])],
        },
        { blocks: [use("deploy")], results: [result(id("deploy"), lines(`deploy ${turn}`, 60))] },
        end,
      ];
    case 1:
      return [
        {
          blocks: [
            {
              type: "server_tool_use",
              id: id("srv"),
              name: "code_execution",
              input: { code: "await query()" },
            },
            use("query", { caller: { type: CODE, tool_id: id("srv") } }),
          ],
          results: [result(id("query"), lines(`table ${turn}`, 120))],
        },
        {
          blocks: [
            {
              type: "code_execution_tool_result",
              tool_use_id: id("srv"),
              content: {
                type: "code_execution_result",
                stdout: "7",
                stderr: "",
                return_code: 0,
                content: [],
              },
            },
            ...end.blocks,
          ],
        },
      ];
    case 2:
      return [
        {
          blocks: [
            {
              type: "server_tool_use",
              id: id("search"),
              name: "tool_search_tool_regex",
              input: { pattern: "tick" },
            },
            {
              type: "tool_search_tool_result",
              tool_use_id: id("search"),
              content: { type: "tool_search_tool_search_result", tool_references: [REFERENCE("ticket")] },
            },
            use("ticket"),
          ],
          results: [result(id("ticket"), lines(`ticket ${turn}`, 50))],
        },
        end,
      ];
    case 3:
      return [
        {
          blocks: [
            { type: "mcp_tool_use", id: id("mcp"), name: "echo", server_name: "s", input: {} },
            {
              type: "mcp_tool_result",
              tool_use_id: id("mcp"),
              is_error: false,
              content: [{ type: "text", text: lines(`mcp ${turn}`, 40) }],
            },
            ...end.blocks,
          ],
        },
      ];
    case 4:
      return [
        { blocks: [thinking, use("calendar")], results: [result(id("calendar"), "Nothing today.")] },
        end,
      ];
    default:
      return [
        ...Array.from({ length: turn % 12 === 5 ? 12 : 3 }, (_, step) => ({
          blocks: [{ ...use("run_command"), id: `${id("run")}_${step}` }],
          results: [result(`${id("run")}_${step}`, lines(`command ${turn} ${step}`, 110))],
        })),
        end,
      ];
  }
}

sizedTest(
  "a client with sixteen betas never breaks a rule of the provider, however often its window is edited",
  async () => {
    const turns = proofRounds(300, 36);
    const rules = new BetaRules();
    let [step, count]: [Step, number] = [{ blocks: [] }, 0];
    const upstream = await startUpstream((heard, response, index) => {
      rules.check(heard, index);
      const id = `msg_${++count}`;
      for (const block of step.blocks)
        if (block.type === "thinking") rules.thinking.set(block.signature, String(block.thinking));
      const usage = {
        input_tokens: Math.ceil(heard.body.length / 3.6),
        output_tokens: 20,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      };
      const stop_reason = step.results ? "tool_use" : "end_turn";
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id,
          type: "message",
          role: "assistant",
          model: heard.json.model,
          content: step.blocks,
          stop_reason,
          usage,
        }),
      );
      rules.lastId = id;
    });
    const upstreams = [
      {
        name: "strict",
        baseUrl: upstream.url,
        apis: ["anthropic"],
        window: WINDOW,
        contextManagement: "upstream",
      },
    ];
    const gateway = await startGateway({ upstream: upstreams });
    await gateway.kernel.memories().remember("The user prefers short answers.", { by: "user" });
    const messages: WireObject[] = [];
    const headers = { "anthropic-beta": BETAS.join(","), "x-claude-code-session-id": "betas" };
    const send = async (next: Step, lastId: string | null) => {
      step = next;
      const body = {
        model: "claude-opus-4-8",
        max_tokens: 2_000,
        thinking: { type: "adaptive", display: "summarized" },
        context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
        output_config: { effort: "high", task_budget: { type: "tokens", total: 128_000 } },
        diagnostics: { previous_message_id: lastId },
        container: "container_1",
        system,
        tools,
        messages: markLast(messages),
      };
      rules.own = body;
      const answer = await ask(gateway, { path: "/v1/messages?beta=true", body: encode(body), headers });
      expect(answer.status, answer.text).toBe(200);
      messages.push({ role: "assistant", content: JSON.parse(answer.text).content });
    };
    for (let turn = 0; turn < turns; turn++) {
      const file = { type: "document", source: { type: "file", file_id: "file_1" } };
      const text = { type: "text", text: `Question ${turn}: ${lines(`detail ${turn}`, 3)}` };
      messages.push({ role: "user", content: turn % 25 === 3 ? [file, text] : [text] });
      if (turn % 6 === 4)
        messages.push({
          role: "system",
          content: [{ type: "tool_addition", tool: { type: "tool_reference", name: "calendar" } }],
        });
      if (turn % 9 === 2)
        await gateway.kernel.memories().remember(`Fact ${turn} is settled.`, { by: "user" });
      for (const next of planTurn(turn)) {
        await send(next, rules.lastId ?? null);
        if (!next.results) continue;
        for (const one of next.results)
          rules.programResults.set(one.tool_use_id, JSON.stringify(one.content));
        messages.push({ role: "user", content: next.results });
      }
    }
    expect(rules.violations).toEqual([]);
    const last = upstream.heard.at(-1)?.json.messages as readonly WireObject[];
    expect(JSON.stringify(last).length).toBeLessThan(JSON.stringify(messages).length / 2);
  },
  600_000,
);

/** JSON of messages by object: most of a request's messages were in the one before it. */
const known = new WeakMap<WireObject, string>();

/** The same as `JSON.stringify`, which takes most of the time of a client with a long history. */
function encode({ messages, ...fields }: { readonly messages: readonly WireObject[] }): string {
  const texts = messages.map((one) => {
    const text = known.get(one) ?? JSON.stringify(one);
    known.set(one, text);
    return text;
  });
  return `${JSON.stringify(fields).slice(0, -1)},"messages":[${texts.join(",")}]}`;
}

/** Clients mark their newest message. */
function markLast(messages: readonly WireObject[]): readonly WireObject[] {
  const last = messages.at(-1);
  const content = last?.content as readonly WireObject[];
  if (last?.role !== "user") return messages;
  const marked = [...content.slice(0, -1), { ...content.at(-1), cache_control: { type: "ephemeral" } }];
  return [...messages.slice(0, -1), { ...last, content: marked }];
}
