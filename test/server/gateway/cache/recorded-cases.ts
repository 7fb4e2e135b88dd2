import { readRecorded } from "../recorded.ts";
import type { CacheCase, CaseRequest } from "./cache-cases.ts";
import type { Body } from "./simulated-provider.ts";

const SECOND = 1_000;

const APIS = { messages: "anthropic", completions: "openai-chat", responses: "openai-responses" } as const;
const listOf = (api: CacheCase["api"]) => (api === "openai-responses" ? "input" : "messages");

/** A change of the second of two recorded requests; undefined where the client's API knows no such thing. */
type Injection = (api: CacheCase["api"], after: Body) => Partial<CaseRequest> | undefined;

const isLead = ({ role }: Body) => role === "system" || role === "developer";

function changeSystem(api: CacheCase["api"], after: Body, text: string): Body {
  const copy = structuredClone(after);
  if (api === "anthropic" && Array.isArray(copy.system)) copy.system.at(-1).text += text;
  else if (api === "anthropic") copy.system = `${copy.system ?? ""}${text}`;
  else if (typeof copy.instructions === "string") copy.instructions += text;
  else if (isLead(copy[listOf(api)][0]) && typeof copy[listOf(api)][0].content === "string")
    copy[listOf(api)][0].content += text;
  else return undefined;
  return copy;
}

const INJECTIONS: Readonly<Record<string, Injection>> = {
  expired: () => ({ at: 3 * 3_600 * SECOND }),
  "model-changed": (_, after) => ({ body: { ...after, model: `${after.model}-other` } }),
  "key-changed": () => ({ key: "key-2" }),
  "system-changed": (api, after) => {
    const body =
      api === "openai-responses" && !after.instructions
        ? undefined
        : changeSystem(api, after, "\nIt is 10:14.");
    return body && { body };
  },
  "tools-changed": (_, after) =>
    (after.tools?.length ?? 0) > 1 ? { body: { ...after, tools: after.tools.toReversed() } } : undefined,
  "message-edited": (api, after) => {
    const copy = structuredClone(after);
    const list = copy[listOf(api)];
    const first = list.findIndex((one: Body) => !isLead(one));
    const { content } = list[first];
    if (typeof content === "string") list[first].content = `Other words. ${content}`;
    else content[0].text = `Other words. ${content[0].text}`;
    return { body: copy };
  },
  "breakpoint-missing": (api, after) =>
    api === "anthropic"
      ? {
          body: JSON.parse(
            JSON.stringify(after, (name, value) => (name === "cache_control" ? undefined : value)),
          ),
        }
      : undefined,
  provider: () => ({ isEvicted: true }),
};

/** Two requests in a row of each recorded conversation, with each cause injected into the second. */
export function listRecordedCases(): readonly CacheCase[] {
  const talks = Map.groupBy(
    readRecorded().filter(({ file, response }) => /\/normal/.test(file) && response.status === 200),
    ({ file }) => file.slice(0, file.lastIndexOf("/")),
  );
  return [...talks].flatMap(([name, requests]) => {
    const last = /([a-z]+)(?:\?|$)/.exec(requests[0]?.url ?? "")?.[1];
    const api = APIS[last as keyof typeof APIS];
    const main = requests.filter(({ body }) => Array.isArray(body.tools) && body.tools.length > 0);
    if (!api || main.length < 3) return [];
    return main.slice(1).flatMap(({ body: after }, index): readonly CacheCase[] => {
      const before = main[index]?.body as Body;
      const plain: CacheCase = {
        name: `${name} ${index} hit`,
        api,
        cause: undefined,
        requests: [
          { body: before, at: 0 },
          { body: after, at: 20 * SECOND },
        ],
      };
      const injected = Object.entries(INJECTIONS).flatMap(([cause, inject]): readonly CacheCase[] => {
        const change = inject(api, after as Body);
        if (!change) return [];
        const changed = { body: after as Body, at: 20 * SECOND, ...change };
        return [
          {
            ...plain,
            name: `${name} ${index} ${cause}`,
            cause,
            requests: [{ body: before, at: 0 }, changed],
          },
        ];
      });
      return [plain, ...injected];
    });
  });
}
