import { gzipSync, zstdCompressSync } from "node:zlib";
import type { Random } from "../../support/random.ts";

/** A file to be written. */
export interface FileBytes {
  readonly path: string;
  readonly bytes: Buffer;
}

type Change = (file: FileBytes, random: Random) => FileBytes;

/** Corruptions of a file's bytes. */
export const BYTE_CHANGES: Readonly<Record<string, Change>> = {
  "some bits are flipped": ({ path, bytes }, random) => {
    const changed = Buffer.from(bytes);
    for (let times = 1 + random.below(8); times > 0 && changed.length > 0; times--) {
      const at = random.below(changed.length);
      changed[at] = (changed[at] as number) ^ (1 << random.below(8));
    }
    return { path, bytes: changed };
  },
  "it is cut short": ({ path, bytes }, random) => ({
    path,
    bytes: bytes.subarray(0, random.below(bytes.length + 1)),
  }),
  "it begins late": ({ path, bytes }, random) => ({
    path,
    bytes: bytes.subarray(random.below(bytes.length)),
  }),
  "a stretch is missing": ({ path, bytes }, random) => {
    const [from, length] = [random.below(bytes.length), random.below(200)];
    return { path, bytes: Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]) };
  },
  "a stretch is zero": ({ path, bytes }, random) => {
    const from = random.below(bytes.length);
    return {
      path,
      bytes: Buffer.from(bytes).fill(0, from, Math.min(bytes.length, from + random.below(300))),
    };
  },
  "noise is in between": ({ path, bytes }, random) => {
    const noise = Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
    const at = random.below(bytes.length);
    return { path, bytes: Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]) };
  },
  "brackets are in between": ({ path, bytes }, random) => {
    const at = random.below(bytes.length);
    const brackets = random
      .pick(["[", "{", "]", "}", '"', "\\", '{"a":', ",", "\n"])
      .repeat(1 + random.below(70_000));
    return { path, bytes: Buffer.concat([bytes.subarray(0, at), Buffer.from(brackets), bytes.subarray(at)]) };
  },
  "its lines are mixed": ({ path, bytes }, random) => {
    const lines = bytes.toString("latin1").split("\n");
    lines.splice(random.below(lines.length), 0, random.pick(lines));
    lines.splice(random.below(lines.length), random.below(3));
    lines.reverse();
    return { path, bytes: Buffer.from(lines.join("\n"), "latin1") };
  },
  "its lines end as on Windows": ({ path, bytes }) => ({
    path,
    bytes: Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  }),
  "it is UTF-16": ({ path, bytes }) => ({ path, bytes: Buffer.from(`\uFEFF${bytes}`, "utf16le") }),
  "it is Latin-1": ({ path, bytes }) => ({ path, bytes: Buffer.from(`${bytes}`, "latin1") }),
  "it is empty": ({ path }) => ({ path, bytes: Buffer.alloc(0) }),
  "it is packed": ({ path, bytes }) => ({ path: `${path}.gz`, bytes: gzipSync(bytes) }),
  "it is packed and cut short": ({ path, bytes }, random) => {
    const [ending, packed] = random.chance(0.5) ? ["gz", gzipSync(bytes)] : ["zst", zstdCompressSync(bytes)];
    return { path: `${path}.${ending}`, bytes: packed.subarray(0, random.below(packed.length)) };
  },
};
