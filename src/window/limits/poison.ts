import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ProviderFailure } from "../../wire/provider-failure.ts";
import { isRefusal } from "./is-refusal.ts";
import { POISON_CODES, POISON_FORMS, type PoisonKind } from "./poison-forms.ts";
import { collectFailureFacts, type FailureFacts } from "./provider-failure.ts";

/** A block of the request that the provider rejects, and would reject again on every retry. */
export interface Poison {
  readonly kind: PoisonKind;
  /** Position of the block in the request as sent. */
  readonly path?: PoisonPath;
  /** Ids of the calls that the provider names. */
  readonly callIds?: readonly string[];
  /** Id of the reasoning item that the provider names. */
  readonly itemId?: string;
  readonly message: string;
}

/** Indexes into the messages of the request, the blocks of that message, and the blocks of a tool result. */
interface PoisonPath {
  readonly message: number;
  readonly block?: number;
  readonly inner?: number;
}

/** The rejected block that a failure reports, if any; as for overflows, only known wordings count. */
export function detectPoison(failure: ProviderFailure): Poison | undefined {
  const facts = collectFailureFacts(failure);
  return isRefusal(facts) ? undefined : (findPoisonInTexts(facts) ?? findPoisonInCodes(facts));
}

function findPoisonInTexts(facts: FailureFacts): Poison | undefined {
  for (const text of facts.texts) {
    for (const { kind, pattern } of POISON_FORMS) {
      const match = pattern.exec(text);
      if (match) return buildPoison(facts, kind, text, match.groups);
    }
  }
  return undefined;
}

function findPoisonInCodes(facts: FailureFacts): Poison | undefined {
  for (const code of facts.codes) {
    const kind = POISON_CODES.get(code);
    if (kind) return buildPoison(facts, kind, facts.texts[0] ?? code, undefined);
  }
  return undefined;
}

function buildPoison(
  facts: FailureFacts,
  kind: PoisonKind,
  message: string,
  groups: Readonly<Record<string, string | undefined>> | undefined,
): Poison {
  const index = groups?.message;
  const path =
    index === undefined
      ? [message, ...facts.fields].map(parsePath).find((found) => found !== undefined)
      : { message: Number(index) };
  const callIds = groups?.calls?.split(/,\s*/);
  const itemId = groups?.item;
  return { kind, ...dropUndefined({ path, callIds, itemId }), message };
}

const PATH_WORDING =
  /\b(?:messages?|input|contents)(?:\.\[?|\[)(\d+)\]?(?:\.(?:content|parts)(?:\.\[?|\[)(\d+)\]?(?:\.tool_result\.content\.(\d+))?)?/;

function parsePath(text: string): PoisonPath | undefined {
  const match = PATH_WORDING.exec(text);
  if (!match) return undefined;
  const [message, block, inner] = match.slice(1);
  return dropUndefined({
    message: Number(message),
    block: block !== undefined ? Number(block) : undefined,
    inner: inner !== undefined ? Number(inner) : undefined,
  });
}
