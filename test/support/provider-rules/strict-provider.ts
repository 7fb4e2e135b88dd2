import { anthropic } from "../wire-server/anthropic.ts";
import type { WireApi } from "../wire-server/api.ts";
import type { Reply } from "../wire-server/behaviour.ts";
import { google } from "../wire-server/google.ts";
import { openaiChat } from "../wire-server/openai-chat.ts";
import { openaiResponses } from "../wire-server/openai-responses.ts";
import { type BoundItems, bindReasoning, judgeReasoning, refuse } from "./bound-reasoning.ts";
import {
  type Account,
  type BoundBlocks,
  bindThinking,
  blocksOf,
  invalidRequest,
  judgeThinking,
} from "./bound-thinking.ts";
import {
  digest,
  type Fields,
  fieldsIn,
  type Judgement,
  type ModelRequest,
  type Refusal,
} from "./judgement.ts";
import { brokenRules } from "./message-order.ts";
import { judgeFields, type KeptFields, keepFields } from "./reasoning-fields.ts";
import { refuseSystemMessages } from "./system-messages.ts";
import { judgeSignatures, refuseGoogle, type SignedParts, signParts } from "./thought-signatures.ts";

const APIS: readonly WireApi[] = [anthropic, openaiChat, openaiResponses, google];
const ID_PREFIXES: Readonly<Record<string, string>> = {
  anthropic: "msg_",
  "openai-chat": "chatcmpl-",
  "openai-responses": "resp_",
};
const COUNTING = /\/count_tokens$|:countTokens$/;
/** About as long as the signature of a short thought. */
const SEAL_LENGTH = 344;

const FORM_RULES = ["order", "system-message", "compaction-beta"];

/** Whether a refusal concerns reasoning, not the form of the request. */
export function isReasoningRule(refusal: Refusal | undefined): boolean {
  return refusal !== undefined && !FORM_RULES.includes(refusal.rule);
}

const NOTHING: Judgement = { sent: [], alive: [], lost: [] };

/**
 * The memory of a provider as strict as the real ones: it knows the reasoning that it gave out again, and refuses or
 * loses it where its prefix changed, by the rules of each API.
 */
export class StrictProvider {
  readonly #account: Account;
  #blocks: BoundBlocks = new Map();
  #items: BoundItems = new Map();
  #parts: SignedParts = new Map();
  #fields: KeptFields = new Map();
  /** All items of a stored response and of the conversation before it, by response id. */
  readonly #stored = new Map<string, readonly Fields[]>();
  #replies = 0;

  constructor(account: Account = {}) {
    this.#account = account;
  }

  /** Judges a request; a refusal is the provider's answer. Counting tokens has the same rules. */
  judge(request: ModelRequest): Judgement {
    const api = apiOf(request.path);
    if (!api) return NOTHING;
    const items = api === openaiResponses ? this.#itemsOf(request.body) : [];
    if (!items) return { ...NOTHING, refusal: refuseUnknown(request.body) };
    const read = api === openaiResponses ? { ...request.body, input: items } : request.body;
    const [broken] = brokenRules(api.name, Buffer.from(JSON.stringify(read)));
    if (broken !== undefined) return { ...NOTHING, refusal: refuseOrder(api, broken) };
    if (api === anthropic) {
      const refusal = refuseSystemMessages(request);
      return refusal ? { ...NOTHING, refusal } : judgeThinking(request, this.#blocks, this.#account);
    }
    if (api === google) return judgeSignatures(request, this.#parts);
    if (api === openaiChat) return judgeFields(request, this.#fields);
    return judgeReasoning(request, items, this.#items);
  }

  /** The reply with its reasoning sealed and bound to the request. */
  seal(request: ModelRequest, judgement: Judgement, reply: Reply): Reply {
    const api = apiOf(request.path);
    if (!api) return reply;
    const number = ++this.#replies;
    const isSealed = reply.reasoning !== undefined || api === google;
    const { display } = Object(request.body.thinking) as Fields;
    const isOmitted = reply.reasoning !== undefined && display === "omitted";
    const sealed: Reply = {
      id: `${ID_PREFIXES[api.name] ?? ""}${String(number).padStart(8, "0")}`,
      ...reply,
      // The signature alone holds thinking that the client does not want to see.
      ...(isOmitted && { reasoning: "" }),
      ...(isSealed && { seal: reply.seal ?? newSeal(number) }),
      ...(judgement.transformations && { inputTransformations: judgement.transformations }),
    };
    const body = api.body(sealed, request) as Fields;
    if (api === anthropic)
      this.#blocks = bindThinking(request, blocksOf(body.content), judgement, this.#blocks);
    else if (api === google) this.#parts = signParts(partsOf(body), this.#parts);
    else if (api === openaiChat) {
      const message = Object(fieldsIn(body.choices)[0]?.message) as Fields;
      this.#fields = keepFields(String(request.body.model), message, this.#fields);
    } else {
      const items = this.#itemsOf(request.body) ?? [];
      const output = fieldsIn(body.output);
      this.#items = bindReasoning(request, items, output, this.#items);
      this.#stored.set(String(body.id), [...items, ...output]);
    }
    return sealed;
  }

  /** The items of a request and of the response it continues; undefined if that one is not known. */
  #itemsOf({ input, previous_response_id: previous }: Fields): readonly Fields[] | undefined {
    const own = typeof input === "string" ? [{ role: "user", content: input }] : fieldsIn(input);
    if (typeof previous !== "string") return own;
    const earlier = this.#stored.get(previous);
    return earlier && [...earlier, ...own];
  }
}

/** The API of a path, also if the request only counts tokens. */
function apiOf(path: string): WireApi | undefined {
  const plain = (path.split("?")[0] as string).replace(COUNTING, (tail) =>
    tail.startsWith(":") ? ":generateContent" : "",
  );
  return APIS.find(({ matches }) => matches(plain));
}

function refuseOrder(api: WireApi, broken: string) {
  if (api === anthropic) return invalidRequest("order", broken);
  return api === google ? refuseGoogle("order", broken) : refuse("order", broken);
}

function refuseUnknown({ previous_response_id: previous }: Fields) {
  const told = `Previous response with id '${String(previous)}' not found.`;
  return refuse("previous-response", told, "previous_response_not_found");
}

function partsOf({ candidates }: Fields): readonly Fields[] {
  const { content } = Object(fieldsIn(candidates)[0]) as { readonly content?: Fields };
  return fieldsIn(content?.parts);
}

function newSeal(number: number): string {
  let seal = "";
  for (let part = 0; seal.length < SEAL_LENGTH; part++) seal += digest(`seal ${number}`, String(part));
  return seal.slice(0, SEAL_LENGTH);
}
