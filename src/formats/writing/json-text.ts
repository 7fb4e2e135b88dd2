import type { OutputPiece } from "./writer.ts";

/** Pieces of a JSON file whose array is written one element to a line: `before` and `after` are the text around it. */
export async function* jsonArrayPieces(
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
