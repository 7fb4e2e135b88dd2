import type { Json } from "../json.ts";

/** No real value is nested deeper; deeper content is left out. */
const MAX_LEVELS = 1_000;

/** A text or a number within a value. */
interface JsonLeaf {
  /** Names of the fields that begin with this leaf, outermost first. */
  readonly names: readonly string[];
  readonly value: string | number;
}

interface OpenValue {
  readonly members: Iterator<readonly [name: string | undefined, value: Json]>;
  /** Number of names from outside this value that no leaf has used. */
  unused: number;
}

/** The texts and numbers of a value in order. The walk needs no call stack, so a deeply nested value cannot exhaust it. */
export function* walkJson(value: Json): Generator<JsonLeaf> {
  let names: string[] = [];
  const open: OpenValue[] = [{ members: [[undefined, value] as const].values(), unused: 0 }];
  for (let top = open.at(-1); top; top = open.at(-1)) {
    names.length = Math.min(names.length, top.unused);
    const next = top.members.next();
    if (next.done) {
      open.pop();
      continue;
    }
    const [name, member] = next.value;
    if (name !== undefined) names.push(name);
    if (typeof member === "string" || typeof member === "number") {
      yield { names, value: member };
      if (names.length > 0) for (const one of open) one.unused = 0;
      names = [];
    } else if (member !== null && typeof member === "object" && open.length <= MAX_LEVELS)
      open.push({ members: listMembers(member), unused: names.length });
  }
}

function* listMembers(value: object): Generator<readonly [name: string | undefined, value: Json]> {
  if (Array.isArray(value)) for (const item of value) yield [undefined, item as Json];
  else
    for (const name in value)
      if (Object.hasOwn(value, name)) yield [name, (value as { [name: string]: Json })[name] as Json];
}
