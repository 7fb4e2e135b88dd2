import type { Json } from "../../kernel/index.ts";
import type { Input } from "./input.ts";
import type { Item } from "./item.ts";
import type { JsonLine, JsonObject, Position } from "./json-lines.ts";

/** One record of a JSONL file with its line number. */
export interface LineRecord {
  readonly record: JsonObject;
  readonly line: number;
  readonly sizeBytes: number;
}

/** Turns the records of a JSONL file into items, in order. */
export interface LineDecoder {
  decode(record: LineRecord): Iterable<Item>;
  /** False while records are held that belong together with later ones. */
  readonly isSettled: boolean;
  /** Returns the state to resume from; called only while settled. */
  state(): Json;
  /**
   * Emits held records at the current end of the file. They may be emitted again with another version after the file
   * has grown.
   */
  end(): Iterable<Item>;
}

/** Approximate source bytes between two checkpoints. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024;

/** Decodes a JSONL file: resumes where the last import stopped, reports broken lines and emits checkpoints. */
export async function* decodeLines(
  input: Input,
  path: string,
  makeDecoder: (state: Json | undefined) => LineDecoder,
): AsyncGenerator<Item> {
  const resume = input.resume as { readonly position: Position; readonly decoder: Json } | undefined;
  const from = await input.validatePosition(path, resume?.position);
  const decoder = makeDecoder(from ? resume?.decoder : undefined);
  let checkpointAt = from?.offset ?? 0;
  const checkpoint = async (line: JsonLine): Promise<Item> => {
    checkpointAt = line.end;
    const position = await input.position(path, line);
    return { type: "checkpoint", state: { position: { ...position }, decoder: decoder.state() } };
  };

  let last: JsonLine | undefined;
  for await (const batch of input.jsonLines(path, from)) {
    for (const line of batch) {
      if (line.isCut) {
        if (!input.isLive) yield buildLineProblem(path, line);
        continue;
      }
      if (line.problem !== undefined) yield buildLineProblem(path, line);
      if (line.record)
        yield* decoder.decode({ record: line.record, line: line.line, sizeBytes: line.sizeBytes });
      last = line;
      if (decoder.isSettled && line.end - checkpointAt >= CHECKPOINT_BYTES) yield await checkpoint(line);
    }
  }
  if (last && decoder.isSettled && last.end > checkpointAt) yield await checkpoint(last);
  yield* decoder.end();
}

function buildLineProblem(path: string, line: JsonLine): Item {
  const severity = line.record ? "damaged" : "lost";
  return { type: "problem", path, line: line.line, severity, reason: line.problem as string };
}
