import type { WireFault, WireName } from "../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";

/** The part of an upstream's configuration that decides the choice. */
export type Upstream = Pick<UpstreamConfig, "name" | "baseUrl" | "apis" | "prefix" | "models" | "keyEnv">;

/** The API and the model that a request asks for. */
interface WantedModel {
  readonly api: WireName;
  /** The model as the client names it; undefined if the request names none. */
  readonly model: string | undefined;
}

/** The upstream for a request, or the fault to report if there is none. */
type ChosenUpstream<Kind extends Upstream = Upstream> =
  | { readonly upstream: Kind; readonly model: string | undefined; readonly fault?: never }
  | { readonly fault: WireFault };

/**
 * Chooses among the upstreams that speak the API: first by the longest matching prefix of the model, then by the best
 * match in `models`, then the first upstream with neither, then the first of all. The returned `model` is the
 * upstream's name for it.
 */
export function chooseUpstream<Kind extends Upstream>(
  upstreams: readonly Kind[],
  { api, model }: WantedModel,
): ChosenUpstream<Kind> {
  const speaking = upstreams.filter(({ apis }) => apis.includes(api));
  if (model !== undefined) {
    const prefixed = findLongest(speaking, ({ prefix }) =>
      prefix && model.length > prefix.length && model.startsWith(prefix) ? prefix.length : 0,
    );
    if (prefixed) return { upstream: prefixed, model: model.slice(prefixed.prefix?.length) };
    const listed = findLongest(speaking, ({ models = [] }) =>
      Math.max(0, ...models.map((pattern) => measureMatch(pattern, model))),
    );
    if (listed) return { upstream: listed, model };
  }
  const upstream = speaking.find(({ prefix, models }) => !prefix && !models) ?? speaking[0];
  return upstream ? { upstream, model } : { fault: createNoUpstreamFault(api, upstreams) };
}

/** An example upstream per API, for error messages. */
const EXAMPLES: Readonly<Record<WireName, Pick<Upstream, "name" | "baseUrl" | "keyEnv">>> = {
  anthropic: { name: "anthropic", baseUrl: "https://api.anthropic.com", keyEnv: "ANTHROPIC_API_KEY" },
  "openai-chat": { name: "openai", baseUrl: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY" },
  "openai-responses": { name: "openai", baseUrl: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY" },
};

/** The first item with the greatest length above 0. */
function findLongest<Kind>(list: readonly Kind[], lengthOf: (one: Kind) => number): Kind | undefined {
  let best: Kind | undefined;
  let most = 0;
  for (const one of list) {
    const length = lengthOf(one);
    if (length <= most) continue;
    best = one;
    most = length;
  }
  return best;
}

/** Length of the match between a pattern and a model; a full name beats any prefix pattern. */
function measureMatch(pattern: string, model: string): number {
  if (pattern === model) return model.length + 2;
  return pattern.endsWith("*") && model.startsWith(pattern.slice(0, -1)) ? pattern.length : 0;
}

function createNoUpstreamFault(api: WireName, upstreams: readonly Upstream[]): WireFault {
  const example = JSON.stringify({ ...EXAMPLES[api], apis: [api] });
  const others = upstreams.map(({ name, apis }) => `${name} speaks ${apis.join(", ")}`).join("; ");
  return {
    status: 404,
    kind: "not_found",
    message:
      `No upstream of this gateway speaks ${api}${others ? ` (${others})` : ""}. ` +
      `Add ${JSON.stringify(api)} to "apis" of one that does, or add one to "upstreams", as ${example}.`,
  };
}
