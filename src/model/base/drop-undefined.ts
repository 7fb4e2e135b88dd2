/** The fields of `T`; those that may be undefined are optional. */
type Defined<T> = T extends unknown
  ? { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
      [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
    }
  : never;

/** Returns the fields that are not undefined, in their order, so that JSON, keys and spreads do not see the others. */
export function dropUndefined<const T extends object>(fields: T): Defined<T> {
  const defined: Partial<T> = {};
  // Keys are our own names, never those of foreign JSON; this runs for every record.
  for (const key in fields) if (fields[key] !== undefined) defined[key] = fields[key];
  return defined as Defined<T>;
}
