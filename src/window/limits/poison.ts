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

/**
 * The first message whose thinking the provider refuses because of what stands before it, and the provider's words;
 * undefined for any other failure.
 */
export function findRefusedThinking(
  failure: ProviderFailure,
): { readonly message: number; readonly text: string } | undefined {
  const facts = collectFailureFacts(failure);
  const text = facts.texts.find((one) => BOUND_ELSEWHERE.test(one));
  if (text === undefined || isRefusal(facts)) return undefined;
  const path = [text, ...facts.fields].map(parsePath).find((found) => found !== undefined);
  return { message: path?.message ?? 0, text };
}

const BOUND_ELSEWHERE =
  /invalid `?signature`? in `?thinking`?\s+block[\s\S]*bound to a different conversation/i;

function findPoisonInTexts(facts: FailureFacts): Poison | undefined {
  for (const text of facts.texts) {
    // No block is wrong by itself: what stands before it has changed.
    if (BOUND_ELSEWHERE.test(text)) continue;
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
  const path = [message, ...facts.fields].map(parsePath).find((found) => found !== undefined);
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
