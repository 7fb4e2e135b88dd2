/** A JSON schema, or any part of a document. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * Checks a value against a schema of an OpenAPI document and returns the problems. Stricter than the standard: a field
 * that the schema does not name is a problem unless the schema leaves the object open. Independent of zod, which made
 * the document.
 */
export function findSchemaProblems(
  document: JsonSchema,
  schema: JsonSchema,
  value: unknown,
  at = "$",
): string[] {
  const check = (inner: unknown, own: unknown, place: string) =>
    findSchemaProblems(document, inner as JsonSchema, own, place);
  if (typeof schema.$ref === "string") return check(resolve(document, schema.$ref), value, at);
  const problems: string[] = [];
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (choices) {
    const tried = choices.map((one) => check(one, value, at));
    if (tried.every((found) => found.length > 0)) {
      const nearest = tried.toSorted((one, other) => one.length - other.length)[0] as string[];
      problems.push(`${at}: none of ${choices.length} choices (${nearest.slice(0, 2).join("; ")})`);
    }
  }
  for (const one of (schema.allOf ?? []) as readonly JsonSchema[]) problems.push(...check(one, value, at));
  if (schema.const !== undefined && value !== schema.const)
    problems.push(`${at}: not ${String(schema.const)}`);
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    problems.push(`${at}: ${JSON.stringify(value)} is none of ${schema.enum.join(", ")}`);
  if (schema.type !== undefined && !hasType(schema.type, value))
    return [...problems, `${at}: ${JSON.stringify(value)?.slice(0, 60)} is no ${String(schema.type)}`];
  if (typeof value === "number") {
    if (typeof schema.minimum === "number" && value < schema.minimum) problems.push(`${at}: below minimum`);
    if (typeof schema.maximum === "number" && value > schema.maximum) problems.push(`${at}: above maximum`);
  }
  if (
    typeof value === "string" &&
    typeof schema.pattern === "string" &&
    !new RegExp(schema.pattern).test(value)
  )
    problems.push(`${at}: does not match ${schema.pattern}`);
  if (Array.isArray(value) && schema.items !== undefined)
    for (const [index, item] of value.entries())
      problems.push(...check(schema.items, item, `${at}[${index}]`));
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    problems.push(...findFieldProblems(schema, value as Record<string, unknown>, at, check));
  return problems;
}

function findFieldProblems(
  schema: JsonSchema,
  value: Record<string, unknown>,
  at: string,
  check: (inner: unknown, own: unknown, place: string) => string[],
): string[] {
  const problems: string[] = [];
  const properties = schema.properties as Record<string, JsonSchema> | undefined;
  for (const name of (schema.required ?? []) as readonly string[])
    if (value[name] === undefined) problems.push(`${at}.${name}: missing`);
  for (const [name, own] of Object.entries(value)) {
    const known = properties?.[name];
    if (known) problems.push(...check(known, own, `${at}.${name}`));
    else if (typeof schema.additionalProperties === "object")
      problems.push(...check(schema.additionalProperties, own, `${at}.${name}`));
    else if (properties) problems.push(`${at}.${name}: not in the document`);
  }
  return problems;
}

function hasType(type: unknown, value: unknown): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.some((one) => {
    if (one === "null") return value === null;
    if (one === "integer") return Number.isInteger(value);
    if (one === "array") return Array.isArray(value);
    if (one === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
    return typeof value === one;
  });
}

function resolve(document: JsonSchema, reference: string): JsonSchema {
  const found = reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((inner, key) => (inner as JsonSchema | undefined)?.[key], document);
  if (found === undefined) throw new Error(`The document has no ${reference}.`);
  return found as JsonSchema;
}
