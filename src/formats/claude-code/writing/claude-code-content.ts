import type { Message, Part, Role, ToolResultPart } from "../../../index.ts";
import { encodeAnthropicBlocks } from "../../../wire/anthropic/anthropic-block-encode.ts";
import { toObject } from "../../../wire/fields.ts";
import type { PartSource } from "../../../wire/part-source.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { OwnFields, OwnOutput, OwnPart } from "../own-fields.ts";

/** Claude Code's own text for empty messages. */
const FILLER = "(no content)";

/** Content of a line, and the fields that it cannot represent. */
interface LineContent {
  readonly blocks: readonly JsonObject[];
  readonly own: Pick<OwnFields, "parts" | "outputs" | "names" | "isFiller">;
}

/** Converts a message of another format to blocks that Claude Code can continue with. */
export async function encodeLineContent({ parts }: Message, session: PartSource): Promise<LineContent> {
  const blocks: JsonObject[] = [];
  const kept: OwnPart[] = [];
  const outputs: OwnOutput[] = [];
  const names: (readonly [number, string])[] = [];
  for (const [index, stored] of parts.entries()) {
    const part = await session.restore(stored);
    if ((part.type === "tool-result" || part.type === "blob") && part.name !== undefined)
      names.push([index, part.name]);
    if (part.type === "tool-result")
      for (const one of await collectForeignOutputs(index, part, session)) outputs.push(one);
    const stand = buildStandIn(part);
    if (stand) kept.push({ index, part: part as OwnPart["part"], isLeftOut: stand.isLeftOut });
    if (stand?.isLeftOut) continue;
    const [block] = await encodeAnthropicBlocks([stand?.part ?? part], session);
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

/** Returns the pieces of a tool's output that the line holds as text. */
async function collectForeignOutputs(
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

/** Returns the replacement for a part that Claude Code would refuse or change; undefined for all others. */
function buildStandIn(part: Part): StandIn | undefined {
  switch (part.type) {
    case "reasoning": {
      // Anthropic accepts thinking only with its own signature.
      const isSigned = typeof part.opaque === "string" || typeof toObject(part.opaque)?.redacted === "string";
      return isSigned ? undefined : { isLeftOut: true };
    }
    case "raw":
      return part.format === "claude-code" ? undefined : { isLeftOut: true };
    case "tool-call":
      return toObject(part.input)
        ? undefined
        : { isLeftOut: false, part: { ...part, input: { input: part.input } } };
    default:
      return undefined;
  }
}

/** Returns the role that the importer derives from the line. */
export function getLineRole({ role, parts }: Message): Role {
  if (role === "assistant") return role;
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
