import type { OutputPiece } from "../port/writer.ts";

/** Writes a JSON file with one array element per line; `before` and `after` surround the array. */
export async function* writeJsonArray(
  file: string,
  elements: AsyncIterable<unknown>,
  before = "",
  after = "",
): AsyncGenerator<OutputPiece> {
  let begin = `${before}[\n`;
  let end = `${before}[]${after}\n`;
  for await (const element of elements) {
    yield { file, text: begin + JSON.stringify(element) };
    begin = ",\n";
    end = `\n]${after}\n`;
  }
  yield { file, text: end };
}
