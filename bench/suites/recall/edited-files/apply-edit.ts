import type { ToolCallPart } from "../../../../src/model/part.ts";
import { type CallArguments, parseToolArguments } from "../../../../src/window/effects/call-arguments.ts";

/** A text that a call replaces in a file. */
interface Replacement {
  readonly old: string;
  readonly new: string;
}

/** The contents that a call gives a file as a whole; undefined if it changes parts. */
export function findWrittenText(call: ToolCallPart, path: string): string | undefined {
  const fields = parseToolArguments(call.input);
  const text = fields?.content ?? fields?.file_text;
  if (typeof text === "string") return text;
  const section = findPatchSection(call, path);
  if (section?.kind !== "Add") return undefined;
  return section.lines.map((line) => line.replace(/^\+/, "")).join("\n");
}

/** A file's text after a call that changes parts of it; parts that are not found stay as they are. */
export function applyEdit(text: string, call: ToolCallPart, path: string): string {
  const section = findPatchSection(call, path);
  const changes = section ? listHunks(section.lines) : listReplacements(parseToolArguments(call.input) ?? {});
  return changes.reduce((before, change) => {
    const at = change.old === "" ? -1 : before.indexOf(change.old);
    return at < 0 ? before : before.slice(0, at) + change.new + before.slice(at + change.old.length);
  }, text);
}

function listReplacements(fields: CallArguments): Replacement[] {
  const edits = Array.isArray(fields.edits) ? fields.edits : [fields];
  const replacements = edits.flatMap((edit) => {
    const { old_string, oldText, oldString, old_str, new_string, newText, newString, new_str } =
      parseToolArguments(edit) ?? {};
    const [before, after] = [
      old_string ?? oldText ?? oldString ?? old_str,
      new_string ?? newText ?? newString ?? new_str,
    ];
    return typeof before === "string" && typeof after === "string" ? [{ old: before, new: after }] : [];
  });
  const diff = typeof fields.diff === "string" ? fields.diff : "";
  const blocks = diff.matchAll(/^[-<]{3,} SEARCH\n([\s\S]*?)\n?=======\n([\s\S]*?)\n?[+>]{3,} REPLACE/gm);
  return [...replacements, ...[...blocks].map(([, old = "", now = ""]) => ({ old, new: now }))];
}

interface PatchSection {
  readonly kind: string;
  readonly lines: readonly string[];
}

/** The part of an `apply_patch` call about one file. */
function findPatchSection({ input }: ToolCallPart, path: string): PatchSection | undefined {
  const fields = parseToolArguments(input);
  const values = fields ? Object.values(fields).flat() : [input];
  const patch = values.find((value) => typeof value === "string" && value.includes("*** Begin Patch"));
  if (typeof patch !== "string") return undefined;
  for (const section of patch.split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m)) {
    const [head = "", ...lines] = section.split("\n");
    const [, kind, named = ""] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(head) ?? [];
    if (kind === undefined || !path.endsWith(named.replace(/^(?:\.?\/|(?:\.\.\/)+)+/, ""))) continue;
    return { kind, lines: lines.filter((line) => !line.startsWith("*** ")) };
  }
  return undefined;
}

function listHunks(lines: readonly string[]): Replacement[] {
  const hunks = lines
    .join("\n")
    .split(/^@@.*\n?/m)
    .filter((hunk) => hunk.trim() !== "");
  return hunks.map((hunk) => {
    const own = hunk.replace(/\n$/, "").split("\n");
    const side = (left: string) => own.filter((line) => !line.startsWith(left)).map((line) => line.slice(1));
    return { old: side("+").join("\n"), new: side("-").join("\n") };
  });
}
