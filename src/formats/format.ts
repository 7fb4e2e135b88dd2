import type { Item } from "./item.ts";
import type { Folder } from "./reading/folder.ts";
import type { Input } from "./reading/input.ts";

/** The formats that can be read. */
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
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "ai-sdk";

/** One conversation of a foreign tool, where it lies. */
export interface Source {
  readonly format: FormatName;
  /** The id that the tool itself gives the conversation: with the format, its identity wherever the files move. */
  readonly id: string;
  /** The main file or folder, for people. */
  readonly path: string;
  /** Files and folders that make it up; nothing else is read for it. */
  readonly paths: readonly string[];
  readonly sizeBytes: number;
  readonly modifiedAt: number;
  /** Id, in the same format, of the conversation that started this one as a sub-agent. */
  readonly parent?: string;
  readonly title?: string;
  /** Working folder of the agent, where it is known without reading all. */
  readonly cwd?: string;
}

/** What is needed to know where a tool keeps its conversations. */
export interface System {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A format that can be read. */
export interface Format {
  readonly name: FormatName;
  /** The tool's name as people write it. */
  readonly title: string;
  /** Names its processes carry, to know whether an agent is alive. */
  readonly processes: readonly string[];
  /** Folders where the tool keeps its conversations on this computer; they need not exist. */
  homes(system: System): readonly string[];
  /** Conversations among the files of one folder that no format has claimed yet. */
  detect(folder: Folder): Promise<readonly Source[]>;
  /** The conversation in the order of the source. Broken input is yielded as a problem and never thrown. */
  read(source: Source, input: Input): AsyncGenerator<Item>;
}
