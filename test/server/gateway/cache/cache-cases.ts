import { type Body, SimulatedProvider } from "./simulated-provider.ts";

/** The changes that longhaul made to a request itself. */
interface OwnAct {
  readonly act: "edit" | "page" | "memories" | "tools";
  /** The body as sent. */
  readonly sent: Body;
}

/** One request on its way: the client's body, the body as sent, and its surroundings. */
export interface CaseRequest {
  readonly body: Body;
  readonly own?: OwnAct;
  readonly at: number;
  readonly key?: string;
  /** True if the provider loses its cache before this request. */
  readonly isEvicted?: boolean;
}

/** Two or more requests of a conversation; the last one has a known cause. */
export interface CacheCase {
  readonly name: string;
  readonly api: "anthropic" | "openai-chat" | "openai-responses";
  readonly cause: string | undefined;
  readonly minTokens?: number;
  readonly requests: readonly CaseRequest[];
}

export function createProvider({ api, minTokens }: CacheCase): SimulatedProvider {
  return new SimulatedProvider(api === "anthropic" ? "anthropic" : "openai", minTokens);
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const WORDS =
  "the build of parser and tests fails when a worker reads its queue before the index is written so keep order of files in each module and check every path again".split(
    " ",
  );

/** Text of about a number of tokens, the same for the same seed. */
function prose(seed: number, tokens: number): string {
  let state = seed * 7_919 + 13;
  const words: string[] = [];
  for (let length = 0; length < tokens * 4; ) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    const word = `${WORDS[state % WORDS.length]}${state % 11 === 0 ? ".\n" : ""}`;
    words.push(word);
    length += word.length + 1;
  }
  return words.join(" ");
}

/** A shape of conversations: a client, and how it marks its requests. */
interface Shape {
  readonly seed: number;
  readonly turns: number;
  readonly systemTokens: number;
  readonly tools: number;
  readonly resultTokens: number;
  readonly ttl?: "1h";
  readonly date: string;
}

const DEVELOPED: readonly Shape[] = [
  { seed: 1, turns: 6, systemTokens: 3_000, tools: 8, resultTokens: 900, date: "2026-11-18" },
  {
    seed: 2,
    turns: 14,
    systemTokens: 1_500,
    tools: 14,
    resultTokens: 2_500,
    date: "Wed Nov 18 2026 10:14:07",
  },
  {
    seed: 3,
    turns: 4,
    systemTokens: 6_000,
    tools: 3,
    resultTokens: 400,
    ttl: "1h",
    date: "11/18/2026, 9:05 AM",
  },
  {
    seed: 4,
    turns: 30,
    systemTokens: 2_200,
    tools: 22,
    resultTokens: 1_200,
    date: "2026-11-18T10:14:07.120Z",
  },
];

/** Shapes that the diagnosis was not developed with. */
const HELD_OUT: readonly Shape[] = [
  { seed: 11, turns: 9, systemTokens: 4_100, tools: 5, resultTokens: 3_000, date: "18 November 2026" },
  {
    seed: 12,
    turns: 18,
    systemTokens: 900,
    tools: 17,
    resultTokens: 1_800,
    ttl: "1h",
    date: "18.11.2026 10:14",
  },
  { seed: 13, turns: 5, systemTokens: 9_000, tools: 2, resultTokens: 700, date: "November 18, 2026" },
  { seed: 14, turns: 40, systemTokens: 2_600, tools: 11, resultTokens: 600, date: "2026/11/18 10:14:07" },
];

const mark = ({ ttl }: Shape) => ({ cache_control: { type: "ephemeral", ...(ttl && { ttl }) } });

function listTools({ tools, seed }: Shape): Body[] {
  return Array.from({ length: tools }, (_, index) => ({
    name: `tool_${index}`,
    description: prose(seed * 100 + index, 60),
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  }));
}

/** The request of an agent after a number of turns: system, tools, and a call with its result for each turn. */
function anthropic(shape: Shape, turns: number): Body {
  const { seed, systemTokens, resultTokens, date } = shape;
  const messages: Body[] = [{ role: "user", content: `Please mend it. ${prose(seed, 200)}` }];
  for (let turn = 0; turn < turns; turn++)
    messages.push(
      {
        role: "assistant",
        content: [
          { type: "text", text: `Step ${turn}. ${prose(seed + turn, 40)}` },
          {
            type: "tool_use",
            id: `toolu_${turn}`,
            name: `tool_${turn % 2}`,
            input: { path: `/src/${turn}.ts`, line: turn },
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `toolu_${turn}`,
            content: prose(seed * 31 + turn, resultTokens),
          },
        ],
      },
    );
  const last = messages.at(-1);
  if (typeof last.content === "string") last.content = [{ type: "text", text: last.content, ...mark(shape) }];
  else Object.assign(last.content.at(-1), mark(shape));
  return {
    model: "claude-opus-4-8",
    max_tokens: 4_096,
    thinking: { type: "adaptive" },
    system: [
      { type: "text", text: "You are an agent." },
      {
        type: "text",
        text: `${prose(seed + 5, systemTokens)}\nToday is ${date}.\n${prose(seed + 6, 300)}`,
        ...mark(shape),
      },
    ],
    tools: listTools(shape),
    messages,
  };
}

function chat(shape: Shape, turns: number): Body {
  const { system, tools, messages, model: _ } = anthropic(shape, turns);
  return {
    model: "gpt-5.6",
    prompt_cache_key: `talk-${shape.seed}`,
    reasoning_effort: "medium",
    tools: tools.map(({ name, description, input_schema }: Body) => ({
      type: "function",
      function: { name, description, parameters: input_schema },
    })),
    messages: [
      { role: "system", content: system.map(({ text }: Body) => text).join("\n") },
      ...messages.flatMap(({ role, content }: Body) => {
        if (typeof content === "string") return [{ role, content }];
        return content.map((block: Body) => {
          if (block.type === "tool_result")
            return { role: "tool", tool_call_id: block.tool_use_id, content: block.content };
          if (block.type === "tool_use")
            return {
              role,
              content: null,
              tool_calls: [
                {
                  id: block.id,
                  type: "function",
                  function: { name: block.name, arguments: JSON.stringify(block.input) },
                },
              ],
            };
          return { role, content: block.text };
        });
      }),
    ],
  };
}

function responses(shape: Shape, turns: number): Body {
  const { messages, tools, ...rest } = chat(shape, turns);
  const [{ content: instructions }, ...said] = messages;
  return {
    ...rest,
    instructions,
    tools: tools.map(({ function: own }: Body) => ({ type: "function", ...own })),
    input: said.map(({ role, content, tool_calls: calls, tool_call_id: id }: Body) => {
      if (role === "tool") return { type: "function_call_output", call_id: id, output: content };
      if (calls) return { type: "function_call", call_id: calls[0].id, ...calls[0].function };
      return {
        type: "message",
        role,
        content: [{ type: role === "user" ? "input_text" : "output_text", text: content }],
      };
    }),
  };
}

const BUILDERS = { anthropic, "openai-chat": chat, "openai-responses": responses } as const;
type Api = keyof typeof BUILDERS;

const listOf = (api: Api) => (api === "openai-responses" ? "input" : "messages");

/** A change of the last request; undefined where the API knows no such thing. */
type Injection = (given: {
  readonly api: Api;
  readonly shape: Shape;
  readonly before: Body;
  readonly after: Body;
}) => Partial<CaseRequest> | undefined;

/** The system prompt of a body, replaced. */
function withSystem(api: Api, body: Body, change: (text: string) => string): Body {
  const copy = structuredClone(body);
  if (api === "anthropic") copy.system[1].text = change(copy.system[1].text);
  else if (api === "openai-chat") copy.messages[0].content = change(copy.messages[0].content);
  else copy.instructions = change(copy.instructions);
  return copy;
}

function withTools(body: Body, change: (tools: Body[]) => Body[]): Body {
  return { ...body, tools: change(structuredClone(body.tools)) };
}

function withList(api: Api, body: Body, change: (list: Body[]) => Body[]): Body {
  return { ...body, [listOf(api)]: change(structuredClone(body[listOf(api)])) };
}

const isResult = ({ role, type, content }: Body) =>
  role === "tool" || type === "function_call_output" || content?.[0]?.type === "tool_result";

function clearResult(element: Body): Body {
  if (element.role === "tool") return { ...element, content: "[cleared]" };
  if (element.type === "function_call_output") return { ...element, output: "[cleared]" };
  return { ...element, content: [{ ...element.content[0], content: "[cleared]" }] };
}

const summaryOf = (shape: Shape) =>
  `This session is being continued from a previous conversation that ran out of context. Summary:\n${prose(shape.seed + 77, 700)}`;

function userElement(api: Api, text: string, shape?: Shape): Body {
  if (api === "openai-chat") return { role: "user", content: text };
  if (api === "openai-responses")
    return { type: "message", role: "user", content: [{ type: "input_text", text }] };
  return { role: "user", content: [{ type: "text", text, ...(shape && mark(shape)) }] };
}

function unmark(body: Body): Body {
  return JSON.parse(JSON.stringify(body, (name, value) => (name === "cache_control" ? undefined : value)));
}

const LEAD: Readonly<Record<Api, number>> = { anthropic: 0, "openai-chat": 1, "openai-responses": 0 };

/** Clears the second result, or the first where there is only one. */
function clearEarlyResult(api: Api, body: Body): Body {
  return withList(api, body, (list) => {
    const places = list.flatMap((element, index) => (isResult(element) ? [index] : []));
    const place = places[1] ?? places[0] ?? 0;
    return list.map((element, index) => (index === place ? clearResult(element) : element));
  });
}

/** Causes and the ways to inject each of them; each is used with several shapes and APIs. */
const INJECTIONS: Readonly<Record<string, readonly Injection[]>> = {
  expired: [
    ({ shape }) => ({ at: (shape.ttl ? 61 : 6) * MINUTE }),
    ({ shape }) => ({ at: (shape.ttl ? 200 : 45) * MINUTE }),
    () => ({ at: 26 * 60 * MINUTE }),
  ],
  "model-changed": [
    ({ api, after }) => ({
      body: { ...after, model: api === "anthropic" ? "claude-sonnet-5" : "gpt-5.6-mini" },
    }),
  ],
  "key-changed": [() => ({ key: "key-2" })],
  "system-changed": [
    ({ api, after, shape }) => ({
      body: withSystem(api, after, (text) => text.replace(shape.date, shape.date.replace("18", "19"))),
    }),
    ({ api, after }) => ({ body: withSystem(api, after, (text) => `Request 17 of this day.\n${text}`) }),
    ({ api, after }) => ({
      body: withSystem(api, after, (text) => {
        const lines = text.split("\n");
        return [...lines.slice(3, 6), ...lines.slice(0, 3), ...lines.slice(6)].join("\n");
      }),
    }),
    ({ api, after }) => ({ body: withSystem(api, after, (text) => text.replace("the build", "a build")) }),
  ],
  "tools-changed": [
    ({ after }) => ({ body: withTools(after, (tools) => tools.toReversed()) }),
    ({ after }) => ({
      body: withTools(after, (tools) => [{ ...tools[0], ...rename(tools[0], "tool_new") }, ...tools]),
    }),
    ({ after }) => ({ body: withTools(after, (tools) => tools.slice(1)) }),
    ({ after }) => ({
      body: withTools(after, ([first, ...rest]) => [describeTool(first, "Now with another text."), ...rest]),
    }),
  ],
  "message-edited": [
    ({ api, after }) => ({ body: clearEarlyResult(api, after) }),
    ({ api, after }) => ({
      body: withList(api, after, (list) =>
        list.map((element, index) =>
          index === LEAD[api] ? userElement(api, "Please mend it, quickly.") : element,
        ),
      ),
    }),
    ({ api, after }) => ({
      body: withList(api, after, (list) => list.filter((_, index) => index !== LEAD[api])),
    }),
  ],
  "breakpoint-missing": [({ api, after }) => (api === "anthropic" ? { body: unmark(after) } : undefined)],
  "breakpoint-moved": [
    ({ api, after, shape }) => {
      if (api !== "anthropic") return undefined;
      const copy = structuredClone(after);
      const blocks = Array.from({ length: 30 }, (_, index) => ({
        type: "text",
        text: `Note ${index}. ${prose(index, 20)}`,
      }));
      const last = copy.messages.at(-1);
      const { cache_control: _, ...bare } = last.content.at(-1);
      last.content = [bare, ...blocks, { type: "text", text: "And now?", ...mark(shape) }];
      return { body: copy };
    },
    ({ api, after }) => {
      if (api !== "anthropic") return undefined;
      const copy = unmark(after);
      copy.tools.at(-1).cache_control = { type: "ephemeral" };
      return { body: copy };
    },
  ],
  "settings-changed": [
    ({ api, after }) =>
      api === "anthropic"
        ? { body: { ...after, thinking: { type: "enabled", budget_tokens: 2_000 } } }
        : undefined,
    ({ api, after }) =>
      api === "anthropic" ? { body: { ...after, tool_choice: { type: "tool", name: "tool_0" } } } : undefined,
    ({ api, after }) =>
      api === "openai-responses"
        ? { body: { ...after, text: { format: { type: "json_schema", name: "x", schema: {} } } } }
        : undefined,
  ],
  compacted: [
    ({ api, after, shape }) => ({
      body: withList(api, after, (list) => [
        ...list.slice(0, LEAD[api]),
        userElement(api, summaryOf(shape), shape),
      ]),
    }),
    ({ api, after, shape }) => ({
      body: withList(api, after, (list) => [
        ...list.slice(0, LEAD[api] + 1),
        userElement(api, `<summary>\n${prose(shape.seed + 9, 900)}\n</summary>`),
        ...list.slice(-1),
      ]),
    }),
  ],
  "own-edit": [({ api, after }) => ({ own: { act: "edit", sent: clearEarlyResult(api, after) } })],
  "own-page": [
    ({ api, after, shape }) => ({
      own: {
        act: "page",
        sent: withList(api, after, (list) => [
          ...list.slice(0, LEAD[api] + 1),
          userElement(api, `Earlier: ${prose(shape.seed, 300)}`),
          ...list.slice(LEAD[api] + 1),
        ]),
      },
    }),
  ],
  "own-injection": [
    ({ api, after }) => ({
      own: { act: "memories", sent: withSystem(api, after, (text) => `${text}\n\nMemories: prefers tabs.`) },
    }),
    ({ after }) => ({
      own: {
        act: "tools",
        sent: withTools(after, (tools) => [...tools, rename(tools[0], "longhaul_recall")]),
      },
    }),
  ],
  provider: [() => ({ isEvicted: true }), () => ({ isEvicted: true, at: 4 * MINUTE })],
};

/** Short conversations, which no provider caches. */
function listSmall(shapes: readonly Shape[]): readonly CacheCase[] {
  return shapes.flatMap((shape) =>
    (["anthropic", "openai-chat"] as const).map((api): CacheCase => {
      const small = { ...shape, systemTokens: 60, tools: 1, resultTokens: 40 };
      const build = (turns: number) => withSystem(api, BUILDERS[api](small, turns), () => "Be brief.");
      return {
        name: `too-small ${api} ${shape.seed}`,
        api,
        cause: "too-small",
        requests: [
          { body: build(1), at: 0 },
          { body: build(2), at: 30 * SECOND },
        ],
      };
    }),
  );
}

/** Plain continuations, which have no cause. */
function listHits(shapes: readonly Shape[]): readonly CacheCase[] {
  return shapes.flatMap((shape) =>
    (Object.keys(BUILDERS) as Api[]).map(
      (api): CacheCase => ({
        name: `hit ${api} ${shape.seed}`,
        api,
        cause: undefined,
        requests: [0, 1, 2].map((more) => ({
          body: BUILDERS[api](shape, shape.turns + more),
          at: more * 20 * SECOND,
        })),
      }),
    ),
  );
}

function listInjected(shapes: readonly Shape[]): readonly CacheCase[] {
  const cases: CacheCase[] = [];
  for (const [cause, ways] of Object.entries(INJECTIONS))
    for (const [way, inject] of ways.entries())
      for (const [place, shape] of shapes.entries()) {
        const apis = Object.keys(BUILDERS) as Api[];
        const api = cause.startsWith("breakpoint") ? "anthropic" : (apis[(place + way) % apis.length] as Api);
        const before = BUILDERS[api](shape, shape.turns);
        const after = BUILDERS[api](shape, shape.turns + 1);
        const change = inject({ api, shape, before, after });
        if (!change) continue;
        const last = { body: after, at: 40 * SECOND, ...change };
        cases.push({
          name: `${cause} ${way} ${api} ${shape.seed}`,
          api,
          cause,
          requests: [{ body: before, at: 0 }, last.own ? last : { ...last }],
        });
      }
  return cases;
}

const listAll = (shapes: readonly Shape[]) => [
  ...listInjected(shapes),
  ...listSmall(shapes),
  ...listHits(shapes),
];

export const DEVELOPED_CASES: readonly CacheCase[] = listAll(DEVELOPED);
export const HELD_OUT_CASES: readonly CacheCase[] = listAll(HELD_OUT);

function rename(tool: Body, name: string): Body {
  return tool.function ? { ...tool, function: { ...tool.function, name } } : { ...tool, name };
}

function describeTool(tool: Body, description: string): Body {
  return tool.function ? { ...tool, function: { ...tool.function, description } } : { ...tool, description };
}
