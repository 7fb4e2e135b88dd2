/** A step of the serialization: a value still to be written, or finished text. */
type Step = { readonly value: unknown } | string;

/** JSON of a value with sorted keys; omits fields named in `without` at any depth. */
export function toCanonicalJson(value: unknown, without: ReadonlySet<string> = NONE): string {
  const written: string[] = [];
  // An explicit stack instead of recursion: arguments of a tool call can nest arbitrarily deep.
  const steps: Step[] = [{ value }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (typeof step === "string") written.push(step);
    else for (const inner of expandValue(step.value, without).reverse()) steps.push(inner);
  }
  return written.join("");
}

function expandValue(value: unknown, without: ReadonlySet<string>): Step[] {
  if (typeof value !== "object" || value === null) return [JSON.stringify(value) ?? "null"];
  if (Array.isArray(value))
    return ["[", ...value.flatMap((item, at) => (at > 0 ? [",", { value: item }] : [{ value: item }])), "]"];
  const fields = value as { readonly [field: string]: unknown };
  const names = Object.keys(fields)
    .filter((field) => fields[field] !== undefined && !without.has(field))
    .sort();
  const steps = names.flatMap((field, at): Step[] => [
    `${at > 0 ? "," : ""}${JSON.stringify(field)}:`,
    { value: fields[field] },
  ]);
  return ["{", ...steps, "}"];
}

const NONE: ReadonlySet<string> = new Set();
