import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { findSecrets } from "../../../../src/model/secrets/redact-secrets.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const MAX_FILES = 30;
const MAX_PACKED_BYTES = 100_000;

/** All strings in a value, at any depth. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe.skipIf(!existsSync(folder))("redaction of real transcripts", () => {
  test("real transcripts lose hardly any text: hashes, ids, pictures and code stay", () => {
    let characters = 0;
    let found = 0;
    const small = globSync("**/*.gz", { cwd: folder }).filter(
      (file) => statSync(join(folder, file)).size < MAX_PACKED_BYTES,
    );
    for (const file of small.slice(0, MAX_FILES)) {
      const raw = gunzipSync(readFileSync(join(folder, file))).toString("utf8");
      const values = [jsonOf(raw) ?? raw.split("\n").map(jsonOf)];
      for (const text of textsOf(values)) {
        characters += text.length;
        found += findSecrets(text).length;
      }
    }
    expect(characters).toBeGreaterThan(1_000_000);
    expect(found / (characters / 1_000_000)).toBeLessThan(1);
  });
});
