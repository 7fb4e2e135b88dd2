import type { Message, Part, Role, ToolResultPart } from "../../../index.ts";
import type { OwnFields, OwnOutput, OwnPart } from "../../claude-code/own-fields.ts";
import { objectOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { blocksOfParts, type PartSource } from "../anthropic-blocks.ts";

/** What Claude Code writes itself where a message is empty. */
const FILLER = "(no content)";

/** The content of a line, and what it has no place for. */
export interface LineContent {
  readonly blocks: readonly JsonObject[];
  readonly own: Pick<OwnFields, "parts" | "outputs" | "names" | "isFiller">;
}

/** Blocks of a message that came from elsewhere: all of them such as Claude Code can go on with. */
export async function contentOfMessage({ parts }: Message, session: PartSource): Promise<LineContent> {
  const blocks: JsonObject[] = [];
  const kept: OwnPart[] = [];
  const outputs: OwnOutput[] = [];
  const names: (readonly [number, string])[] = [];
  for (const [index, stored] of parts.entries()) {
    const part = await session.restore(stored);
    if ((part.type === "tool-result" || part.type === "blob") && part.name !== undefined)
      names.push([index, part.name]);
    if (part.type === "tool-result")
      for (const one of await foreignOutputs(index, part, session)) outputs.push(one);
    const stand = standInFor(part);
    if (stand) kept.push({ index, part: part as OwnPart["part"], isLeftOut: stand.isLeftOut });
    if (stand?.isLeftOut) continue;
    const [block] = await blocksOfParts([stand?.part ?? part], session);
    if (block) blocks.push(block);
  }
  const isFiller = blocks.length === 0;
  return {
    blocks: isFiller ? [{ type: "text", text: FILLER }] : blocks,
    own: {
      ...(kept.length > 0 && { parts: kept }),
      ...(outputs.length > 0 && { outputs }),
      ...(names.length > 0 && { names }),
      ...(isFiller && { isFiller }),
    },
  };
}

/** Pieces of a tool's output that the line shows as text. */
async function foreignOutputs(
  index: number,
  { output }: ToolResultPart,
  session: PartSource,
): Promise<readonly OwnOutput[]> {
  const foreign: OwnOutput[] = [];
  for (const [piece, stored] of output.entries()) {
    const part = await session.restore(stored);
    if (part.type === "raw" && part.format !== "claude-code") foreign.push({ index, piece, part });
  }
  return foreign;
}

type StandIn =
  | { readonly isLeftOut: true; readonly part?: undefined }
  | { readonly isLeftOut: false; readonly part: Part };

/** What stands in the line for a part that would be refused or come back as another; undefined for all others. */
function standInFor(part: Part): StandIn | undefined {
  switch (part.type) {
    case "reasoning": {
      // Thinking is accepted only with the signature of the provider itself.
      const isSigned = typeof part.opaque === "string" || typeof objectOf(part.opaque)?.redacted === "string";
      return isSigned ? undefined : { isLeftOut: true };
    }
    case "raw":
      return part.format === "claude-code" ? undefined : { isLeftOut: true };
    case "tool-call":
      return objectOf(part.input)
        ? undefined
        : { isLeftOut: false, part: { ...part, input: { input: part.input } } };
    default:
      return undefined;
  }
}

/** The role that a line gives its message when it is read. */
export function lineRoleOf({ role, parts }: Message): Role {
  if (role === "assistant") return role;
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
