import { TOOL_ERROR, withErrorMark, withoutErrorMark } from "../../../formats/content/marks.ts";
import type { Part, PartInput, ToolResultPart } from "../../../index.ts";
import type { Base64Of } from "../api.ts";
import { type BlockForm, contentOf, editedBlock, ownBlocks } from "./blocks.ts";
import { editedPieces } from "./edited-pieces.ts";

/**
 * The output of an edited tool result, for APIs without a field for failures: a mark at its beginning signals a
 * failure, and is not part of the logged text.
 */
export async function markedOutput(
  part: ToolResultPart,
  original: Part | undefined,
  own: { readonly content: unknown; readonly parts: (content: unknown) => readonly PartInput[] },
  form: BlockForm,
  base64Of: Base64Of,
): Promise<string | readonly unknown[]> {
  const unmarked = typeof own.content === "string" ? withoutErrorMark(own.content) : undefined;
  const content = unmarked ?? own.content;
  const before = original?.type === "tool-result" ? original.output : [];
  const blocks: unknown[] = [];
  const isFailureUntold = original === undefined && part.isError === true;
  if (isFailureUntold) blocks.push(form.text(TOOL_ERROR));
  for (const edited of editedPieces(part.output, before, ownBlocks(content, own.parts(content), form))) {
    const block = await editedBlock(edited, form, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  const written = contentOf(content, blocks, true);
  return unmarked !== undefined && typeof written === "string" ? withErrorMark(written) : written;
}
