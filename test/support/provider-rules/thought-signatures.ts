import { type Fields, fieldsIn, type Judgement, type ModelRequest, type Refusal } from "./judgement.ts";

/** A part with a signature of Google's: a call, or words. */
export interface SignedPart {
  /** The call's name and arguments; undefined for words. */
  readonly call?: string;
}

/** Parts that a provider has signed, by signature. */
export type SignedParts = ReadonlyMap<string, SignedPart>;

/**
 * Judges the thought signatures of a request to generateContent. In the current turn, which begins with the last words
 * of the user, the first call of every step carries its signature, and no signature may stand elsewhere.
 */
export function judgeSignatures({ body }: ModelRequest, produced: SignedParts): Judgement {
  const contents = fieldsIn(body.contents);
  const start = contents.findLastIndex(({ role, parts }) => role === "user" && isQuestion(parts));
  const sent: string[] = [];
  for (const [index, { parts }] of contents.entries()) {
    let isFirst = true;
    for (const part of fieldsIn(parts)) {
      const seal = part.thoughtSignature as string | undefined;
      if (seal !== undefined) {
        const was = produced.get(seal);
        if (!was || (was.call !== undefined && was.call !== callOf(part)))
          return { ...all(sent), refusal: refuseGoogle("signature", "Thought signature is not valid.") };
        sent.push(seal);
      }
      if (!part.functionCall) continue;
      if (isFirst && index > start && seal === undefined)
        return { ...all(sent), refusal: refuseGoogle("signature-missing", missing(part, index)) };
      isFirst = false;
    }
  }
  return all(sent);
}

/** Remembers the signatures of a reply. */
export function signParts(parts: readonly Fields[], produced: SignedParts): SignedParts {
  const signed = new Map(produced);
  for (const part of parts)
    if (part.thoughtSignature !== undefined)
      signed.set(String(part.thoughtSignature), part.functionCall ? { call: callOf(part) } : {});
  return signed;
}

function all(sent: readonly string[]): Judgement {
  return { sent, alive: sent, lost: [] };
}

function isQuestion(parts: unknown): boolean {
  const all = fieldsIn(parts);
  return all.some(({ text }) => text !== undefined) && !all.some(({ functionResponse }) => functionResponse);
}

function callOf({ functionCall }: Fields): string {
  const { name, args } = Object(functionCall) as Fields;
  return JSON.stringify([name, args]);
}

function missing({ functionCall }: Fields, index: number): string {
  const { name } = Object(functionCall) as Fields;
  return (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work" +
    ` correctly. Additional data, function call \`default_api:${String(name)}\`, position ${index}.`
  );
}

/** Refuses a request in Google's format. */
export function refuseGoogle(rule: string, message: string): Refusal {
  return { rule, status: 400, body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } } };
}
