import { join } from "node:path";
import { readJsonLines } from "./read-lines.ts";

interface RawInstance {
  readonly instance_id: string;
  readonly repo: string;
  readonly issue: string;
  readonly gold_files: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

/** One issue over the sources of its repository. */
export interface CodeQuestion {
  readonly repository: string;
  readonly text: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Indexes in `files`. */
  readonly gold: readonly number[];
}

/** SWE-bench issues with every Python file of their revision, one at a time, because many share their texts. */
export function* readSweBench(folder: string): Generator<CodeQuestion> {
  const texts = new Map(
    readJsonLines<{ sha: string; text: string }>(join(folder, "blobs.jsonl.gz")).map(({ sha, text }) => [
      sha,
      text,
    ]),
  );
  for (const raw of readJsonLines<RawInstance>(join(folder, "instances.jsonl.gz"))) {
    const files = Object.entries(raw.files)
      .filter(([path, sha]) => path.endsWith(".py") && texts.has(sha))
      .map(([path, sha]) => ({ path, text: texts.get(sha) ?? "" }));
    const gold = raw.gold_files.flatMap((path) => {
      const place = files.findIndex((file) => file.path === path);
      return place < 0 ? [] : [place];
    });
    if (gold.length > 0) yield { repository: raw.repo, text: raw.issue, files, gold };
  }
}
