import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../src/index.ts";
import { BYTE_CHANGES, type FileBytes } from "./change-bytes.ts";
import { VALUE_CHANGES } from "./change-values.ts";
import { hostileText, hostileValues } from "./hostile.ts";
import { Random } from "./random.ts";
import { bytesOf, copyOf, put, type Sample } from "./sample.ts";

/** What was done to a sample. */
export interface FuzzCase {
  readonly seed: number;
  readonly sample: Sample;
  readonly changes: readonly string[];
}

/** Writes a changed sample into an empty folder. The same seed changes it in the same way. */
export function writeCase(sample: Sample, seed: number, folder: string, secret: string): FuzzCase {
  const random = new Random(seed);
  const changes: string[] = [];
  const changed = changeValues(copyOf(sample), random, hostileValues(secret), changes);
  const paths = Object.keys(changed.files);
  const broken = random.chance(0.6) ? random.pick(paths) : undefined;
  for (const path of paths) {
    const file = changed.files[path] as Sample["files"][string];
    const full = join(folder, path);
    const bytes = bytesOf(file, full, hostileText);
    if (path !== broken) {
      if (bytes) put(folder, path, bytes);
      continue;
    }
    const names = Object.keys(BYTE_CHANGES);
    let out: FileBytes = { path, bytes: bytes ?? readFileSync(full) };
    for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
      const name = random.pick(names);
      changes.push(`${path}: ${name}`);
      out = (BYTE_CHANGES[name] as (typeof BYTE_CHANGES)[string])(out, random);
    }
    put(folder, out.path, out.bytes);
  }
  return { seed, sample, changes };
}

function changeValues(sample: Sample, random: Random, hostile: readonly Json[], changes: string[]): Sample {
  const files = Object.entries(sample.files).filter(([, { values }]) => values.length > 0);
  const names = Object.keys(VALUE_CHANGES);
  for (let times = random.below(4); times > 0; times--) {
    const [path, { values }] = random.pick(files);
    const name = random.pick(names);
    changes.push(`${path}: ${name}`);
    (VALUE_CHANGES[name] as (typeof VALUE_CHANGES)[string])(values, random, hostile);
  }
  return sample;
}
