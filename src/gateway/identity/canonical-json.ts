/** JSON of a value with sorted keys; `without` names fields that do not count, wherever they are. */
export function canonicalJson(value: unknown, without: ReadonlySet<string> = NONE): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, without)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = value as { readonly [field: string]: unknown };
  const written = Object.keys(fields)
    .filter((field) => fields[field] !== undefined && !without.has(field))
    .sort()
    .map((field) => `${JSON.stringify(field)}:${canonicalJson(fields[field], without)}`);
  return `{${written.join(",")}}`;
}

const NONE: ReadonlySet<string> = new Set();
