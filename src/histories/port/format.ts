import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { KeepingRule } from "./keeping-rule.ts";

/** Formats that can be imported. */
export type FormatName =
  | "claude-code"
  | "codex"
  | "opencode"
  | "cline"
  | "cline-sdk"
  | "roo"
  | "pi"
  | "openclaw"
  | "gemini-cli"
  | "copilot-cli"
  | "swe-agent"
  | "aider"
  | "amp"
  | "antigravity"
  | "chatgpt"
  | "claude-ai"
  | "continue"
  | "crush"
  | "cursor"
  | "cursor-cli"
  | "droid"
  | "goose"
  | "grok"
  | "hermes"
  | "kilo"
  | "kilo-code"
  | "kimi"
  | "kimi-code"
  | "kiro"
  | "omp"
  | "openhands"
  | "qwen-code"
  | "trae-cli"
  | "vibe"
  | "vscode-chat"
  | "zed"
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "ai-sdk";

/** One conversation of a foreign tool on disk. */
export interface ImportSource {
  readonly format: FormatName;
  /** The tool's own id of the conversation; with the format, it identifies the conversation wherever its files move. */
  readonly id: string;
  /** True if the tool gave no id: `id` is a name, and the conversation is known by the place of its file. */
  readonly isUnnamed?: true;
  /** The id that earlier versions gave the conversation. */
  readonly formerId?: string;
  /** The main file or folder, for display. */
  readonly path: string;
  /** All files and folders of the conversation; nothing else is read. */
  readonly paths: readonly string[];
  readonly sizeBytes: number;
  readonly modifiedAt: number;
  /** Id of the parent conversation, in the same format, if this one is a sub-agent. */
  readonly parent?: string;
  readonly title?: string;
  /** Working folder of the agent, if known without a full read. */
  readonly cwd?: string;
}

/** Facts about a conversation that its file and its surroundings tell. */
export type SourceFacts = Pick<ImportSource, "id"> & {
  readonly [K in "parent" | "title" | "cwd" | "modifiedAt" | "isUnnamed"]?: ImportSource[K] | undefined;
};

/** Builds the source of a conversation in one file; `beside` are other paths that belong to it. */
export function buildFileSource(
  format: FormatName,
  { path, sizeBytes, modifiedAt }: FileFacts,
  facts: SourceFacts,
  beside: readonly string[] = [],
): ImportSource {
  return { format, path, paths: [path, ...beside], sizeBytes, modifiedAt, ...dropUndefined(facts) };
}

/** Environment that determines where tools keep their conversations. */
export interface System {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reader for one foreign format. */
export interface Format {
  readonly name: FormatName;
  /** The tool's name for display. */
  readonly title: string;
  /** Process names of the tool, to check whether an agent is running. */
  readonly processes: readonly string[];
  /** Folders where the tool keeps its conversations; they may not exist. */
  homes(system: System): readonly string[];
  /** How long the tool keeps a conversation; absent if it deletes none by itself. */
  retention?(system: System): Promise<KeepingRule>;
  /** Finds conversations among the unclaimed files of one folder. */
  detect(folder: Folder): Promise<readonly ImportSource[]>;
  /** Yields a conversation that shares its file with others, in the form in which the tool imports it again. */
  copy?(source: ImportSource, input: Input): AsyncGenerator<string>;
  /** Yields the conversation in source order. Broken input is yielded as a problem, never thrown. */
  read(source: ImportSource, input: Input): AsyncGenerator<Item>;
}
