/** A reference to content stored at the provider. */
export interface StoredReference {
  readonly type: "response" | "item" | "other";
  readonly id: string;
}

/** Fields that refer to stored content, anywhere in a body. */
const REFERENCE_FIELDS: ReadonlyMap<string, StoredReference["type"]> = new Map([
  ["previous_response_id", "response"],
  ["previous_message_id", "response"],
  ["file_id", "other"],
  ["file_ids", "other"],
  ["vector_store_id", "other"],
  ["vector_store_ids", "other"],
  ["container_id", "other"],
  ["input_file_id", "other"],
]);
/** Fields that do so only at the top level; elsewhere they are data of a tool. */
const TOP_FIELDS: ReadonlyMap<string, StoredReference["type"]> = new Map([
  ["conversation", "other"],
  ["container", "other"],
  ["prompt", "other"],
]);
/** A body that does not match has no references. The last alternative matches escaped names. */
const HINTS = /previous_|_ids?"|item_reference|"(?:conversation|container|prompt)"|\\u00[2-7]/;
const SLICE = 1_000_000;
const OVERLAP = 32;

/** All references in a body; "unreadable" if it cannot be parsed. */
export function findReferences(body: Buffer): readonly StoredReference[] | "unreadable" {
  if (!hasHint(body)) return [];
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return "unreadable";
  }
  return collectReferences(value);
}

function hasHint(body: Buffer): boolean {
  for (let at = 0; at < body.length; at += SLICE)
    if (HINTS.test(body.toString("latin1", Math.max(0, at - OVERLAP), at + SLICE))) return true;
  return false;
}

function collectReferences(top: unknown): readonly StoredReference[] {
  const found: StoredReference[] = [];
  const add = (type: StoredReference["type"], value: unknown) => {
    for (const one of Array.isArray(value) ? value : [value]) {
      const id = typeof one === "object" && one !== null ? (one as { readonly id?: unknown }).id : one;
      if (typeof id === "string") found.push({ type, id });
    }
  };
  // A stack instead of recursion, because bodies may nest deeply.
  const waiting: unknown[] = [top];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item ?? null);
      continue;
    }
    const fields = value as { readonly [field: string]: unknown };
    if (fields.type === "item_reference") add("item", fields.id);
    if (fields.type === "code_interpreter") add("other", fields.container);
    if (fields.type === "custom") add("other", fields.skill_id);
    const isTop = value === top;
    for (const [name, inner] of Object.entries(fields)) {
      const isText = name === "prompt" && typeof inner === "string";
      const type = REFERENCE_FIELDS.get(name) ?? (isTop && !isText ? TOP_FIELDS.get(name) : undefined);
      if (type !== undefined) add(type, inner);
      if (isTop || !isOwnData(fields, name)) waiting.push(inner ?? null);
    }
  }
  return found;
}

/** True for tool inputs and parameter schemas, which are the client's own data whatever their fields are called. */
function isOwnData({ type }: { readonly [field: string]: unknown }, name: string): boolean {
  return (name === "input" && type === "tool_use") || name === "input_schema" || name === "parameters";
}
