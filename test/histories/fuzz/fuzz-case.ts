import type { Json } from "../../../src/kernel/index.ts";
import { Random } from "../../support/random.ts";
import { BYTE_CHANGES, type FileBytes } from "./change-bytes.ts";
import { VALUE_CHANGES } from "./change-values.ts";
import { hostileText, hostileValues } from "./hostile.ts";
import { bytesOf, copyOf, type Sample, type SampleFile } from "./sample.ts";

/** A corrupted sample. */
export interface FuzzCase {
  readonly changes: readonly string[];
  readonly files: ReadonlyMap<string, Buffer>;
}

/** The path for a case's database, and the path of a file that must never be read. */
export interface FuzzPlaces {
  readonly database: string;
  readonly secret: string;
}

/** Corrupts a sample at random; the same seed gives the same case. */
export function makeCase(sample: Sample, seed: number, { database, secret }: FuzzPlaces): FuzzCase {
  const random = new Random(seed);
  const changes: string[] = [];
  const { files } = changeValues(copyOf(sample), random, hostileValues(secret), changes);
  const broken = random.chance(0.6) ? random.pick(Object.keys(files)) : undefined;
  const written = Object.entries(files).map(([path, file]): [string, Buffer] => {
    const whole = { path, bytes: bytesOf(file, database, hostileText) };
    const out = path === broken ? changeBytes(whole, random, changes) : whole;
    return [out.path, out.bytes];
  });
  return { changes, files: new Map(written) };
}

function changeValues(sample: Sample, random: Random, hostile: readonly Json[], changes: string[]): Sample {
  const files = Object.entries(sample.files).filter(([, { values }]) => values.length > 0);
  for (let times = random.below(4); times > 0; times--) {
    const [path, { values }] = random.pick(files) as [string, SampleFile];
    const [name, change] = random.pick(Object.entries(VALUE_CHANGES));
    changes.push(`${path}: ${name}`);
    change(values, random, hostile);
  }
  return sample;
}

function changeBytes(file: FileBytes, random: Random, changes: string[]): FileBytes {
  let out = file;
  for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
    const [name, change] = random.pick(Object.entries(BYTE_CHANGES));
    changes.push(`${file.path}: ${name}`);
    out = change(out, random);
  }
  return out;
}
