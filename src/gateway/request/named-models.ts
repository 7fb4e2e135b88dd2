import { parseRange } from "./cut-body.ts";
import type { ParsedRequest } from "./read-request.ts";

/** Fields that hold content, or descriptions of it, in which a model's name decides nothing. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set([
  ...["messages", "input", "system", "instructions", "prompt", "contents", "metadata"],
  ...["function", "functions", "parameters", "input_schema", "json_schema", "schema", "response_format"],
]);
/** Fields that name models, such as "models" and "fallbacks" of routers and "model" of an advisor's tool. */
const MODEL_FIELD = /^(?:\w+_)?(?:models?|fallbacks?)$/;
const MAX_DEPTH = 8;

/** All models that a request names, in any field: providers and routers may answer with each of them. */
export function findNamedModels({ messages: { cut } }: Pick<ParsedRequest, "messages">): readonly string[] {
  const memo = cut.frame?.memo;
  if (memo?.namedModels) return memo.namedModels;
  const found = new Set<string>();
  for (const [name, range] of cut.fields)
    if (!CONTENT_FIELDS.has(name)) collectModels({ [name]: parseRange(cut.bytes, range) }, found);
  const names = [...found];
  if (memo) memo.namedModels = names;
  return names;
}

/** Adds the models that a parsed body names. */
export function collectModels(value: unknown, found: Set<string>, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [name, inner] of Object.entries(value)) {
    if (CONTENT_FIELDS.has(name)) continue;
    if (MODEL_FIELD.test(name))
      for (const one of Array.isArray(inner) ? inner : [inner]) if (typeof one === "string") found.add(one);
    collectModels(inner, found, depth + 1);
  }
}
