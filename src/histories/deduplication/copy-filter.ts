import type { Json } from "../../kernel/index.ts";
import type { CopyRules } from "./copy-rules.ts";

/** Content that the log already holds. */
export interface CopyEvidence {
  hasText(text: string, field: string): boolean;
  /** Tells whether a field with this name and value is known. */
  hasField?(field: string, value: unknown): boolean;
  hasList?(list: readonly unknown[], field: string): boolean;
}

/** A value without copies. */
interface CopyRemoval {
  /** Undefined if nothing is left. */
  readonly value: Json | undefined;
  /** Size of the removed copies, in the unit of the rules. */
  readonly copied: number;
}

/** Removes content from the values of a record that the log already holds. */
export class CopyFilter {
  readonly #rules: CopyRules;
  readonly #evidence: CopyEvidence;
  #copied = 0;

  constructor(rules: CopyRules, evidence: CopyEvidence) {
    this.#rules = rules;
    this.#evidence = evidence;
  }

  /** Returns a value without copies, in the same shape. */
  strip(value: unknown, field = ""): CopyRemoval {
    this.#copied = 0;
    const rest = this.#stripValue(value, field, 0);
    return { value: rest, copied: this.#copied };
  }

  #stripValue(value: unknown, field: string, depth: number): Json | undefined {
    if (value === null || value === undefined)
      return this.#rules.drops === "empty" ? undefined : (value as Json);
    const isLeaf = typeof value !== "object";
    if (isLeaf ? this.#isCopy(value, field) : depth > 0 && this.#isObjectCopy(value, field)) {
      this.#count(value);
      return undefined;
    }
    if (isLeaf || depth > this.#rules.maxDepth) return value as Json;
    return Array.isArray(value)
      ? this.#stripList(value, field, depth)
      : this.#stripObject(value as { readonly [field: string]: unknown }, depth);
  }

  #stripObject(value: { readonly [field: string]: unknown }, depth: number): Json | undefined {
    const before = this.#copied;
    const kept: [string, Json][] = [];
    for (const [field, inner] of Object.entries(value)) {
      const rest = this.#stripValue(inner, field, depth + 1);
      if (rest !== undefined) kept.push([field, rest]);
    }
    const { drops } = this.#rules;
    const isDropped =
      kept.length === 0 && (drops === "empty" || (drops === "emptied" && this.#copied > before));
    return isDropped ? undefined : Object.fromEntries(kept);
  }

  #stripList(list: readonly unknown[], field: string, depth: number): Json | undefined {
    const { lists, drops } = this.#rules;
    if (lists === "stay") return list as readonly Json[];
    if (list.length > 0 && this.#evidence.hasList?.(list, field)) {
      this.#count(list);
      return undefined;
    }
    const rests = list.map((one) => this.#stripValue(one, field, depth + 1));
    if (lists === "shrink") return rests.filter((rest) => rest !== undefined);
    const end = rests.findLastIndex((rest) => rest !== undefined);
    const left = rests.slice(0, end + 1).map((rest) => rest ?? null);
    return left.length === 0 && drops === "empty" ? undefined : left;
  }

  #isCopy(value: unknown, field: string): boolean {
    const { minLength, comparesFields, isTrimmed, drops } = this.#rules;
    if (typeof value !== "string") return comparesFields && this.#hasField(field, value);
    const text = isTrimmed ? value.trim() : value;
    if (text.length >= minLength) return this.#evidence.hasText(value, field);
    return (text === "" && drops === "empty") || (comparesFields && this.#hasField(field, value));
  }

  #isObjectCopy(value: object, field: string): boolean {
    if (!this.#rules.comparesObjects || Array.isArray(value)) return false;
    const text = JSON.stringify(value);
    return text.length >= this.#rules.minLength && this.#evidence.hasText(text, field);
  }

  #hasField(field: string, value: unknown): boolean {
    return this.#evidence.hasField?.(field, value) === true;
  }

  #count(value: unknown): void {
    const text =
      this.#rules.unit === "characters" && typeof value !== "object" ? String(value) : JSON.stringify(value);
    this.#copied += this.#rules.unit === "characters" ? text.length : Buffer.byteLength(text);
  }
}
