/** A list or an object whose items are being written. */
interface OpenContainer {
  readonly value: object;
  /** Names of the fields to write, sorted; undefined for a list. */
  readonly names: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

/** JSON of a value with sorted keys; omits fields named in `without` at any depth. */
export function toCanonicalJson(value: unknown, without: ReadonlySet<string> = NONE): string {
  if (!isContainer(value)) return toPlainJson(value);
  // An explicit stack instead of recursion: arguments of a tool call can nest arbitrarily deep.
  const stack: OpenContainer[] = [];
  let written = open(stack, value, without);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.next === top.size) {
      written += top.names ? "}" : "]";
      stack.pop();
      continue;
    }
    if (top.next > 0) written += ",";
    const name = top.names?.[top.next];
    if (name !== undefined) written += `${JSON.stringify(name)}:`;
    const inner: unknown = (top.value as Record<string, unknown>)[name ?? top.next];
    top.next++;
    written += isContainer(inner) ? open(stack, inner, without) : toPlainJson(inner);
  }
  return written;
}

/** Puts a container on the stack; returns its opening bracket. */
function open(stack: OpenContainer[], value: object, without: ReadonlySet<string>): string {
  const names = Array.isArray(value) ? undefined : listNames(value, without);
  stack.push({ value, names, size: names?.length ?? (value as readonly unknown[]).length, next: 0 });
  return names ? "{" : "[";
}

function listNames(value: object, without: ReadonlySet<string>): readonly string[] {
  const fields = value as { readonly [field: string]: unknown };
  return Object.keys(fields)
    .filter((field) => fields[field] !== undefined && !without.has(field))
    .sort();
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function toPlainJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

const NONE: ReadonlySet<string> = new Set();
