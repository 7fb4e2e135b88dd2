import { z } from "zod";

/** A whole number in a query. */
export function queryNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .regex(
      /^\d{1,16}$/,
      `expected a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ""}`,
    )
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** "true" or "false" in a query. */
export function queryFlag() {
  return z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .pipe(z.boolean());
}

/** Values in a query, separated by commas or repeated. */
export function queryList<Value>(item: z.ZodType<Value, string>) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((text) => text.split(",")))
    .pipe(z.array(item).min(1));
}
