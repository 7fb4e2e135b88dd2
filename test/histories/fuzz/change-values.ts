import type { Json } from "../../../src/kernel/index.ts";
import type { Random } from "../../support/random.ts";
import { hostileName } from "./hostile.ts";

/** Location of a value: a field of an object or an index of an array. */
interface Slot {
  readonly holder: { [key: string]: Json };
  readonly key: string;
}

type Change = (values: Json[], random: Random, hostile: readonly Json[]) => void;

/** Corruptions of a file's records, each at a random place. */
export const VALUE_CHANGES: Readonly<Record<string, Change>> = {
  "a value is replaced": (values, random, hostile) => set(anySlot(values, random), anyOf(hostile, random)),
  "a field is missing": (values, random) => {
    const slot = anySlot(values, random);
    if (slot && !Array.isArray(slot.holder)) delete slot.holder[slot.key];
  },
  "a field is added": (values, random, hostile) => {
    const holder = anySlot(values, random)?.holder;
    if (holder && !Array.isArray(holder)) define(holder, hostileName(random), anyOf(hostile, random));
  },
  "a value is that of another field of the same name": (values, random) => {
    const slot = anySlot(values, random);
    const same = slotsOf(values).filter(({ key }) => key === slot?.key);
    const other = same.length > 0 ? random.pick(same) : undefined;
    if (other) set(slot, structuredClone(other.holder[other.key] as Json));
  },
  "a value is that of any other field": (values, random) => {
    const other = anySlot(values, random);
    if (other) set(anySlot(values, random), structuredClone(other.holder[other.key] as Json));
  },
  "a record follows itself": (values, random) => {
    const record = random.pick(values);
    for (const { holder } of slotsOf([record]))
      for (const name of ["parentUuid", "parentId", "parentID", "parent_id"])
        if (name in holder) holder[name] = (holder.uuid ?? holder.id ?? null) as Json;
  },
  "two records follow each other": (values, random) => {
    const [first, second] = [random.pick(values), random.pick(values)].map(
      (record) => slotsOf([record]).find(({ key }) => key === "parentUuid" || key === "parentId")?.holder,
    );
    if (!first || !second) return;
    const name = "parentUuid" in first ? "parentUuid" : "parentId";
    first[name] = (second.uuid ?? second.id ?? null) as Json;
    second[name] = (first.uuid ?? first.id ?? null) as Json;
  },
  "a value stands in a list": (values, random) => {
    const slot = anySlot(values, random);
    if (slot) set(slot, [slot.holder[slot.key] as Json]);
  },
  "a value stands in a string": (values, random) => {
    const slot = anySlot(values, random);
    if (slot) set(slot, JSON.stringify(slot.holder[slot.key]));
  },
  "a list is longer": (values, random) => {
    const lists = slotsOf(values).map(({ holder, key }) => holder[key]);
    const list = random.pick([values, ...lists.filter((value) => Array.isArray(value))]) as Json[];
    if (list.length > 0)
      for (let times = 0; times < 5; times++) list.push(structuredClone(random.pick(list)));
  },
  "records are swapped": (values, random) => {
    const [one, other] = [random.below(values.length), random.below(values.length)];
    [values[one], values[other]] = [values[other] as Json, values[one] as Json];
  },
  "a record is there twice": (values, random) => {
    values.splice(random.below(values.length), 0, structuredClone(random.pick(values)));
  },
  "a record is missing": (values, random) => {
    if (values.length > 1) values.splice(random.below(values.length), 1);
  },
  "a record is something else": (values, random, hostile) => {
    values[random.below(values.length)] = anyOf(hostile, random);
  },
};

/** A copy, because later changes may modify it. */
function anyOf(hostile: readonly Json[], random: Random): Json {
  return structuredClone(random.pick(hostile));
}

function set(slot: Slot | undefined, value: Json): void {
  if (slot) define(slot.holder, slot.key, value);
}

/** Sets a field of any name; even `__proto__` becomes an ordinary one. */
function define(holder: object, key: string, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true });
}

function anySlot(values: Json[], random: Random): Slot | undefined {
  const slots = slotsOf(values);
  return slots.length > 0 ? random.pick(slots) : undefined;
}

function slotsOf(values: readonly Json[]): Slot[] {
  const slots: Slot[] = [];
  const visit = (value: Json): void => {
    if (value === null || typeof value !== "object") return;
    for (const key of Object.keys(value)) {
      const holder = value as { [key: string]: Json };
      slots.push({ holder, key });
      visit(holder[key] as Json);
    }
  };
  for (const value of values) visit(value);
  return slots;
}
