import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { CopyFilter } from "../deduplication/copy-filter.ts";
import { COPY_RULES } from "../deduplication/copy-rules.ts";
import { KnownTexts } from "../deduplication/known-texts.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodeOpencodeFile } from "./opencode-parts.ts";

/** opencode's replacement for cleared results. */
const CLEARED = "[Old tool result content cleared]";

/** Emits the result of a finished tool as a message, and the edit if opencode has cleared it since. */
export function* decodeToolResult(
  part: JsonObject,
  state: JsonObject,
  { id, callId }: { readonly id: string; readonly callId: string },
): Generator<Item> {
  const time = toObject(state.time);
  const at = toTime(time?.end);
  const { output, attachments } = decodeOutput(state);
  const { rest, bytes } = collectLeftovers(state);
  const { small, large } = splitLeftovers(rest);
  const base = { type: "record", ...dropUndefined({ at }) } as const;
  if (bytes > 0) yield { type: "copy", bytes };
  if (large) yield { ...base, id: `${id}:extra`, body: { kind: "raw", value: { type: "tool", ...large } } };
  const meta = { ...small, ...(attachments.length > 0 && { attachments }) };
  yield {
    ...base,
    id,
    body: {
      kind: "message",
      message: {
        role: "tool",
        parts: [
          {
            type: "tool-result",
            callId,
            ...dropUndefined({
              name: toText(part.tool),
              isError: state.status === "error" ? true : undefined,
            }),
            output,
          },
        ],
        ...(Object.keys(meta).length > 0 && { meta: { opencode: meta } }),
      },
    },
  };
  const madeAt = toTime(time?.compacted);
  if (madeAt === undefined) return;
  yield {
    ...base,
    id: `${id}:cleared`,
    body: {
      kind: "overlay",
      edit: { type: "replace", target: { callId }, parts: [{ type: "text", text: CLEARED }] },
      reason: "cleared",
      madeAt,
    },
  };
}

type OutputPart = Exclude<Extract<PartInput, { type: "tool-result" }>["output"], string>[number];

function decodeOutput(state: JsonObject): {
  readonly output: readonly OutputPart[];
  readonly attachments: readonly Json[];
} {
  const output: OutputPart[] = [];
  const attachments: Json[] = [];
  const said = state.status === "error" ? state.error : state.output;
  if (typeof said === "string") output.push({ type: "text", text: said });
  else if (said !== undefined) output.push({ type: "raw", format: "opencode", value: said as Json });
  for (const file of toArray(state.attachments)) {
    const { part, rest } = decodeOpencodeFile(toObject(file) ?? {});
    if (part.type === "data" || part.type === "raw") output.push(part);
    attachments.push(rest ?? {});
  }
  return { output, attachments };
}

function collectLeftovers(state: JsonObject): {
  readonly rest: Leftovers | undefined;
  readonly bytes: number;
} {
  const held = ["status", "input", "output", "error", "attachments", "time", "metadata"];
  const time = toObject(state.time) && omitFields(state.time as JsonObject, ["compacted"]);
  const { value, copied } = createMetadataFilter(state).strip(state.metadata ?? {});
  const metadata = Object.keys(toObject(value) ?? {}).length > 0 ? value : undefined;
  return { rest: { ...omitFields(state, held), ...dropUndefined({ time, metadata }) }, bytes: copied };
}

/** Creates a filter for a tool's metadata, which repeats its input, its output or its own diffs for display. */
function createMetadataFilter(state: JsonObject): CopyFilter {
  const diffs = toArray(toObject(state.metadata)?.files).map((file) => toObject(file)?.diff);
  const allDiffs = diffs.length > 0 && diffs.map((diff) => `${diff}\n`).join("");
  const evidence = new KnownTexts(COPY_RULES.opencode, {
    searched: typeof state.output === "string" ? [state.output] : [],
    whole: new Set([...Object.values(toObject(state.input) ?? {}), state.title]),
    isDerived: (field, value) => field === "diff" && value === allDiffs,
  });
  return new CopyFilter(COPY_RULES.opencode, evidence);
}
