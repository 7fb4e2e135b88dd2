import { parseModelId } from "../../model/model-id.ts";
import { KNOWN_MODELS, type NamedFacts } from "./known-models.ts";

/** The name of a model, taken apart. */
interface ModelLineage {
  /** The first word, such as "claude" or "gpt". */
  readonly family: string;
  /** All other words, such as "opus" or "mini"; dates are not words. */
  readonly words: readonly string[];
  readonly version: number | undefined;
}

/**
 * The known model that an unknown one most likely resembles: the newest of its tier that is not newer than itself, or
 * else the newest of its family. Undefined for an unknown family, and for a model that is older than the known ones.
 */
export function findRelative(id: string): NamedFacts | undefined {
  const own = parseLineage(parseModelId(id).name);
  const family = own && LINEAGES.get(own.family);
  if (!family) return undefined;
  const shared = Math.max(...family.map(({ lineage }) => countSharedWords(lineage, own)));
  const tier = shared > 0 || own.words.length === 0;
  const relatives = tier ? family.filter(({ lineage }) => countSharedWords(lineage, own) === shared) : family;
  // Versions of Claude count within a tier, so those of other tiers say nothing about an unknown one.
  const isComparable = tier || own.family !== "claude";
  const { version = Number.POSITIVE_INFINITY } = own;
  return relatives
    .filter(({ lineage }) => !isComparable || (lineage.version ?? 0) <= version)
    .reduce<KnownRelative | undefined>((best, one) => (best && !isNewer(one, best) ? best : one), undefined)
    ?.known;
}

/** The number of words of a known model if the unknown one has all of them, else -1. */
function countSharedWords({ words }: ModelLineage, own: ModelLineage): number {
  return words.every((word) => own.words.includes(word)) ? words.length : -1;
}

/** Of two models with the same version, the dearer one is the more capable. */
function isNewer(one: KnownRelative, other: KnownRelative): boolean {
  const difference = (one.lineage.version ?? 0) - (other.lineage.version ?? 0);
  return (
    difference > 0 || (difference === 0 && one.known.facts.prices.output > other.known.facts.prices.output)
  );
}

interface KnownRelative {
  readonly lineage: ModelLineage;
  readonly known: NamedFacts;
}

/** A version such as "5", "5.6", "v4" or "k2.7", with letters behind it that name a tier, as in "4o". */
const VERSION = /^[a-z]?(\d{1,2}(?:\.\d{1,2})?)([a-z]*)$/;

const LINEAGES: ReadonlyMap<string, readonly KnownRelative[]> = Map.groupBy(
  KNOWN_MODELS.flatMap((known): readonly KnownRelative[] => {
    const lineage = parseLineage(known.name);
    return lineage ? [{ lineage, known }] : [];
  }),
  ({ lineage }) => lineage.family,
);

function parseLineage(name: string): ModelLineage | undefined {
  const [family = "", ...rest] = name.replace(/[@:].*$/, "").split("-");
  if (!/^[a-z]+$/.test(family)) return undefined;
  const words: string[] = [];
  let version: number | undefined;
  for (const [index, token] of rest.entries()) {
    const [, number, tier] = VERSION.exec(token) ?? [];
    const isMinor = version !== undefined && /^\d{1,2}$/.test(token) && VERSION.test(rest[index - 1] ?? "");
    if (isMinor && Number.isInteger(version)) version = Number(`${version}.${token.padStart(2, "0")}`);
    else if (number !== undefined && version === undefined) {
      version = toComparable(number);
      if (tier) words.push(tier);
    } else if (/^[a-z]+$/.test(token)) words.push(token);
  }
  return { family, words, version };
}

/** The version as a number in which 5.10 comes after 5.9. */
function toComparable(version: string): number {
  const [major, minor = "0"] = version.split(".");
  return Number(`${major}.${minor.padStart(2, "0")}`);
}
