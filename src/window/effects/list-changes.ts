import { walkJson } from "../../model/base/walk-json.ts";
import type { Json } from "../../model/json.ts";
import type { ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { type CallArguments, parseToolArguments } from "./call-arguments.ts";
import { findTouches } from "./find-touches.ts";
import { normalizePath } from "./normalize-path.ts";

/** Text that a call replaces in a file. */
interface FileChange {
  /** Undefined if the call does not name its file. */
  readonly path: string | undefined;
  /** Empty where the call writes the whole file or only adds text. */
  readonly before: string;
  readonly after: string;
  /** True if the call writes the whole file, so that nothing of an earlier copy is left. */
  readonly isWhole: boolean;
}

/** Names of the arguments with the text that an edit replaces and with its new text, in the agents we know. */
const BEFORE = ["old_string", "oldString", "old_str", "oldText", "search"];
const AFTER = ["new_string", "newString", "new_str", "newText", "replace", "content", "file_text"];
/** Words of an edit that took effect. The text after them may quote the file. */
const APPLIED =
  /\b(?:success(?:ful(?:ly)?)?|has been (?:updated|edited|modified|created|written)|applied|updated the following)\b/i;
/** Words of an edit that was refused, in the agents whose results carry no error flag. */
const REFUSED =
  /^\W*(?:error|failed)\b|\bexit[ _]code"?: ?[1-9]|\b(?:verification failed|execution failed|failed to (?:find|edit|apply|replace)|(?:could not|unable to|cannot|can't) find|not found in|no (?:\w+ ){0,2}match(?:es)?\b|(?:does|did) not match|not unique)/im;
const MAX_HEAD_CHARACTERS = 300;
const PATCHED_FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/** The texts that a call replaces and writes; empty for a call that changes no file, or whose form is unknown. */
export function listChanges(call: ToolCallPart): readonly FileChange[] {
  const patch = findPatchText(call.input);
  if (patch !== undefined) return listPatchChanges(patch);
  const touch = findTouches(call).find(({ kind }) => kind === "edit" || kind === "write");
  const from = parseToolArguments(call.input);
  const edits = from && Array.isArray(from.edits) ? (from.edits as readonly Json[]) : [call.input];
  return edits.flatMap((edit): readonly FileChange[] => {
    const fields = parseToolArguments(edit) ?? {};
    const before = findText(fields, BEFORE);
    const after = touch || before !== "" ? findText(fields, AFTER) : "";
    return before === "" && after === ""
      ? []
      : [{ path: touch?.path, before, after, isWhole: touch?.kind === "write" }];
  });
}

/** True if the result of an edit says that the file was left as it was. */
export function isRefusedEdit({ isError, output }: ToolResultPart): boolean {
  if (isError) return true;
  const text = output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const head = text.trimStart().slice(0, MAX_HEAD_CHARACTERS);
  return REFUSED.test(head) && !APPLIED.test(head);
}

/** The texts of files that a call replaces: without them in sight, an agent cannot write the call. */
export function listReplacedTexts(call: ToolCallPart): readonly string[] {
  return listChanges(call).flatMap(({ before }) => (before === "" ? [] : [before]));
}

function findText(fields: CallArguments, names: readonly string[]): string {
  const text = names.map((name) => fields[name]).find((value) => typeof value === "string");
  return typeof text === "string" ? text : "";
}

/** A patch in the `*** Begin Patch` format anywhere in a call's input. */
function findPatchText(input: Json): string | undefined {
  for (const { value } of walkJson(input))
    if (typeof value === "string" && value.includes("*** Begin Patch")) return value;
  return undefined;
}

/** The hunks of a patch: removed and added lines, each with the unchanged ones around them. */
function listPatchChanges(patch: string): readonly FileChange[] {
  const changes: FileChange[] = [];
  let path: string | undefined;
  let isWhole = false;
  let hunk: string[] = [];
  const close = () => {
    const keep = (sign: string) =>
      hunk.filter((line) => line.startsWith(sign) || line.startsWith(" ")).map((line) => line.slice(1));
    const isRemoving = hunk.some((line) => line.startsWith("-"));
    const [before, after] = [isRemoving ? keep("-").join("\n") : "", keep("+").join("\n")];
    if (before !== "" || after !== "") changes.push({ path, before, after, isWhole });
    hunk = [];
  };
  for (const line of patch.split("\n")) {
    if (!line.startsWith("@@") && !line.startsWith("***")) {
      hunk.push(line);
      continue;
    }
    close();
    const [, action, file] = PATCHED_FILE.exec(line) ?? [];
    if (file === undefined) continue;
    path = normalizePath(file);
    isWhole = action === "Add";
  }
  close();
  return changes;
}
