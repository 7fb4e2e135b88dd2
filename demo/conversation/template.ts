import type { Random } from "./random.ts";
import { WORDS } from "./words.ts";

/** Generates a sentence, or a line of code or output. */
export type Maker = (random: Random) => string;

const NUMBERS: Readonly<Record<string, Maker>> = {
  number: (random) => String(random.below(900) + 2),
  decimal: (random) => (random.below(90_000) / 100).toFixed(2),
  hex: (random) => random.bits().toString(16).padStart(8, "0"),
  clock: (random) => `${two(random.below(24))}:${two(random.below(60))}:${two(random.below(60))}`,
};

/**
 * Compiles texts like "the {noun} {verb}" to makers that fill the slots; parsed once, because
 * 100,000 messages use them.
 */
export function templates(...texts: readonly string[]): readonly Maker[] {
  return texts.map(template);
}

function template(text: string): Maker {
  const [first = "", ...rest] = text.split(/\{(\w+)\}/);
  const slots: { readonly fill: Maker; readonly after: string }[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    slots.push({ fill: slot(rest[at] as string), after: rest[at + 1] as string });
  }
  return (random) => {
    let made = first;
    for (const { fill, after } of slots) made += fill(random) + after;
    return made;
  };
}

function slot(name: string): Maker {
  const number = NUMBERS[name];
  if (number) return number;
  const words = WORDS[name];
  if (!words) throw new Error(`There are no words for the slot {${name}}; add them to words.ts.`);
  return (random) => random.pick(words);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
