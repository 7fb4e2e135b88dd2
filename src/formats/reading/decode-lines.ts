import type { Json } from "../../index.ts";
import type { Item } from "../item.ts";
import type { Input } from "./input.ts";
import type { JsonLine, JsonObject, Position } from "./json-lines.ts";

/** One record of a JSONL file with where it stands. */
export interface LineRecord {
  readonly record: JsonObject;
  readonly line: number;
  readonly sizeBytes: number;
}

/** Turns the records of a JSONL file into items, one after the other. */
export interface LineDecoder {
  decode(record: LineRecord): Iterable<Item>;
  /** False while it holds records back that belong together with the next ones. */
  readonly isSettled: boolean;
  /** What it has to know to go on from here; only asked for while it is settled. */
  state(): Json;
  /** The file has ended for now: what is held back comes out. It may come again, with another version, when the file has grown. */
  end(): Iterable<Item>;
}

/** Source bytes between two checkpoints, about. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024;

/** Reads a JSONL file through a decoder: goes on where the last import stopped, reports broken lines, makes checkpoints. */
export async function* decodeLines(
  input: Input,
  path: string,
  makeDecoder: (state: Json | undefined) => LineDecoder,
): AsyncGenerator<Item> {
  const resume = input.resume as { readonly position: Position; readonly decoder: Json } | undefined;
  const from = await input.stillAt(path, resume?.position);
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
        if (!input.isLive) yield lineProblem(path, line);
        continue;
      }
      if (line.problem !== undefined) yield lineProblem(path, line);
      if (line.record)
        yield* decoder.decode({ record: line.record, line: line.line, sizeBytes: line.sizeBytes });
      last = line;
      if (decoder.isSettled && line.end - checkpointAt >= CHECKPOINT_BYTES) yield await checkpoint(line);
    }
  }
  if (last && decoder.isSettled && last.end > checkpointAt) yield await checkpoint(last);
  yield* decoder.end();
}

function lineProblem(path: string, line: JsonLine): Item {
  const severity = line.record ? "damaged" : "lost";
  return { type: "problem", path, line: line.line, severity, reason: line.problem as string };
}
