import type { Part, PartInput, ToolResultPart } from "../../model/part.ts";
import { TOOL_ERROR, withErrorMark, withoutErrorMark } from "../result-marks.ts";
import type { LoadBase64 } from "../wire.ts";
import { type BlockFormat, buildContent, encodeEditedBlock, pairClientBlocks } from "./client-blocks.ts";
import { applyPieceEdits } from "./edit-pieces.ts";

/**
 * The output of an edited tool result, for APIs without a field for failures: a mark at its beginning signals a
 * failure, and is not part of the logged text.
 */
export async function encodeMarkedOutput(
  part: ToolResultPart,
  original: Part | undefined,
  own: { readonly content: unknown; readonly parts: (content: unknown) => readonly PartInput[] },
  form: BlockFormat,
  base64Of: LoadBase64,
): Promise<string | readonly unknown[]> {
  const unmarked = typeof own.content === "string" ? withoutErrorMark(own.content) : undefined;
  const content = unmarked ?? own.content;
  const before = original?.type === "tool-result" ? original.output : [];
  const blocks: unknown[] = [];
  const isFailureUntold = original === undefined && part.isError === true;
  if (isFailureUntold) blocks.push(form.text(TOOL_ERROR));
  for (const edited of applyPieceEdits(
    part.output,
    before,
    pairClientBlocks(content, own.parts(content), form),
  )) {
    const block = await encodeEditedBlock(edited, form, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  const written = buildContent(content, blocks, true);
  return unmarked !== undefined && typeof written === "string" ? withErrorMark(written) : written;
}
